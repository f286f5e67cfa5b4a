public import Bodega

extension Store {

    /// The item with an identifier, `nil` if there is none.
    ///
    /// It takes the same time whatever the number of items. Observers of it are told of changes of this item, rarely of
    /// others.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: String) -> Item? { model[CacheKey(id)] }

    /// Tells whether there is an item.
    ///
    /// It takes the same time whatever the number of items.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: String) -> Bool { model.contains(CacheKey(id)) }

    /// The number of items.
    public var count: Int { model.count }

    /// Whether there are no items.
    public var isEmpty: Bool { model.count == 0 }

    /// Whether the items are there.
    public var state: StoreState { model.observedState }

    /// One error for each record that is stored and is not among the items, with its key: it could not be decoded, and the
    /// cause is what the decoder said, or it holds an item that another record shows
    /// (`StorageError.Code.duplicateRecord`).
    ///
    /// Such records stay stored until ``removeUndecodable(_:)`` removes them. When an item is inserted under the key of
    /// one, the record moves to another key. When items are removed, those that could not be decoded stay, and other
    /// records of the removed items go with them.
    public var undecodable: [StorageError] { model.undecodable }
}

extension Store {

    /// What happens to the store, for one reader; each use of this property makes a stream of its own.
    ///
    /// The first event is a snapshot: ``StoreEvent/Operation/loaded`` with all items, or
    /// ``StoreEvent/Operation/initialized`` while they are not there yet. Then each insertion and each removal is one event,
    /// in order, also those of a chain or a transaction, and when several operations were written as one batch. When an
    /// event is read, the store already shows the whole change that it belongs to. A reader that falls too far behind
    /// gets a snapshot again, in place of what it has missed. The stream ends with the store.
    public var events: AsyncStream<StoreEvent<Item>> { model.events() }

    /// The versions of an item: at once the current one, or `nil` if there is none, then one after each change.
    ///
    /// While the store loads, nothing comes. A reader that is slower than the changes gets the latest version. One may
    /// come again unchanged. The stream ends with the store.
    ///
    /// - Parameter id: The item's identifier.
    public func values(id: String) -> AsyncStream<Item?> { model.values(of: CacheKey(id)) }
}
