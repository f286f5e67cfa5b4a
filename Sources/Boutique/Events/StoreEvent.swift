/// A change of a ``Store``, or a snapshot of it.
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

    /// The kind of an event.
    public enum Operation: Codable, Sendable, Hashable {
        /// The store has no items yet: it is loading, or loading has failed.
        case initialized
        /// The items are loaded. `items` contains all of them and replaces what the reader knew before.
        case loaded
        /// Items were inserted or replaced.
        case insert
        /// Items were removed.
        case remove
    }

    /// The kind of the event.
    public let operation: Operation

    /// The items of the event: for ``Operation/loaded`` all items of the store, for ``Operation/insert`` the new
    /// versions of the inserted and replaced items, for ``Operation/remove`` the items that were removed.
    public let items: [Item]

    /// The identifiers of the new items, in the order of the call. Empty except for ``Operation/insert``.
    public let inserted: [String]

    /// The identifiers of the replaced items, in the order of the call. Empty except for ``Operation/insert``.
    public let updated: [String]

    /// The identifiers of the items that were removed. Empty for other events than ``Operation/remove``.
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

    /// Decodes an event. An event that Boutique has encoded contains no identifiers.
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
