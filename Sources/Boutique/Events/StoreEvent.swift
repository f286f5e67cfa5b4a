/// Something that happened to a ``Store``.
///
/// ```swift
/// for await event in store.events {
///     switch event.operation {
///     case .initialized: print("loading")
///     case .loaded: print("there are", event.items.count)
///     case .insert: print("new:", event.inserted, "changed:", event.updated)
///     case .remove: print("gone:", event.removed)
///     }
/// }
/// ```
public struct StoreEvent<Item: StorableItem>: Sendable {

    /// What kind of thing happened.
    public enum Operation: Codable, Sendable, Hashable {
        /// The store exists and has no items yet. It is loading, or could not be loaded.
        case initialized
        /// The items are there. What was known before is obsolete: `items` is all that there is.
        case loaded
        /// Items were inserted or replaced.
        case insert
        /// Items were removed.
        case remove
    }

    /// What kind of thing happened.
    public let operation: Operation

    /// The items concerned: with ``Operation/loaded`` all items of the store, with ``Operation/insert`` the new versions
    /// of those inserted and replaced, with ``Operation/remove`` those that were there and are gone.
    public let items: [Item]

    /// The identifiers of the items that were not there before, in the order of the call. Only with
    /// ``Operation/insert``.
    public let inserted: [String]

    /// The identifiers of the items that were replaced, in the order of the call. Only with ``Operation/insert``.
    public let updated: [String]

    /// The identifiers of the items that were removed. Only with ``Operation/remove``.
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

    /// Decodes an event. One that Boutique has encoded has no identifiers.
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
