/// A change of a ``Store``.
///
/// ```swift
/// for await event in store.events {
///     switch event.operation {
///     case .initialized: print("loading")
///     case .loaded: print("loaded:", event.items.count)
///     case .insert: print("new:", event.inserted, "changed:", event.updated)
///     case .remove: print("removed:", event.removed)
///     }
/// }
/// ```
public struct StoreEvent<Item: StorableItem>: Sendable {

    /// The kind of change.
    public enum Operation: Codable, Sendable, Hashable {
        /// The store has no items yet: it is loading, or loading has failed.
        case initialized
        /// The items were loaded. `items` replaces all items known before.
        case loaded
        /// Items were inserted or replaced.
        case insert
        /// Items were removed.
        case remove
    }

    /// The kind of change.
    public let operation: Operation

    /// The items concerned: for ``Operation/loaded`` all items of the store, for ``Operation/insert`` the new versions
    /// of the inserted and replaced items, for ``Operation/remove`` the removed items.
    public let items: [Item]

    /// The identifiers of the new items, in the order of the call. Only for ``Operation/insert``.
    public let inserted: [String]

    /// The identifiers of the items that were replaced, in the order of the call. Only for ``Operation/insert``.
    public let updated: [String]

    /// The identifiers of the removed items. Only for ``Operation/remove``.
    public let removed: [String]

    init(
        _ operation: Operation,
        items: [Item] = [],
        inserted: [String] = [],
        updated: [String] = [],
        removed: [String] = []
    ) {
        self.operation = operation
        self.items = items
        self.inserted = inserted
        self.updated = updated
        self.removed = removed
    }
}

extension StoreEvent: Codable {

    /// Decodes an event. An event that Boutique has encoded has no identifiers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Operation.self, forKey: .operation),
            items: try container.decode([Item].self, forKey: .items),
            inserted: try container.decodeIfPresent([String].self, forKey: .inserted) ?? [],
            updated: try container.decodeIfPresent([String].self, forKey: .updated) ?? [],
            removed: try container.decodeIfPresent([String].self, forKey: .removed) ?? []
        )
    }
}
