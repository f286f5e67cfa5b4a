/// A change of a ``Store``, or a snapshot of it.
///
/// ```swift
/// for await event in store.events {
///     switch event.operation {
///     case .initialized: print("loading")
///     case .loaded: print("loaded:", event.items.count)
///     case .insert: print("new:", event.insertedIDs, "changed:", event.updatedIDs)
///     case .remove: print("removed:", event.removedIDs)
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
    public let insertedIDs: [String]

    /// The identifiers of the replaced items, in the order of the call. Empty except for ``Operation/insert``.
    public let updatedIDs: [String]

    /// The identifiers of the items that were removed. Empty for other events than ``Operation/remove``.
    public let removedIDs: [String]

    init(
        _ operation: Operation,
        items: [Item] = [],
        insertedIDs: [String] = [],
        updatedIDs: [String] = [],
        removedIDs: [String] = []
    ) {
        self.operation = operation
        self.items = items
        self.insertedIDs = insertedIDs
        self.updatedIDs = updatedIDs
        self.removedIDs = removedIDs
    }
}

extension StoreEvent: Codable {

    private enum CodingKeys: String, CodingKey {
        case operation, items
        case insertedIDs = "inserted"
        case updatedIDs = "updated"
        case removedIDs = "removed"
    }

    /// Decodes an event. An event that Boutique has encoded contains no identifiers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Operation.self, forKey: .operation),
            items: try container.decode([Item].self, forKey: .items),
            insertedIDs: try container.decodeIfPresent([String].self, forKey: .insertedIDs) ?? [],
            updatedIDs: try container.decodeIfPresent([String].self, forKey: .updatedIDs) ?? [],
            removedIDs: try container.decodeIfPresent([String].self, forKey: .removedIDs) ?? []
        )
    }
}
