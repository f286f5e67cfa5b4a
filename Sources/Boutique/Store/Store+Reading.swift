public import Bodega

extension Store {

    /// The item with an identifier, or `nil` if there is none.
    ///
    /// Access takes constant time. Observers are notified when this item changes, and rarely when another item does.
    ///
    /// - Parameter id: The identifier.
    public subscript(id: String) -> Item? { model[CacheKey(id)] }

    /// Returns whether an item exists, in constant time.
    ///
    /// - Parameter id: The item's identifier.
    public func contains(id: String) -> Bool { model.contains(CacheKey(id)) }

    /// The number of items.
    public var count: Int { model.count }

    /// Whether there are no items.
    public var isEmpty: Bool { model.count == 0 }

    /// The loading state of the store.
    public var state: StoreState { model.observedState }

    /// The errors of the stored records that are not among the items, one for each record, with its key. Either the
    /// record could not be decoded, and the cause is the decoder's error, or the engine could not read it, for example
    /// because it can't be decrypted (`StorageError.Code.decryptionFailed`), or it holds an item that another record
    /// holds, too (`StorageError.Code.duplicateRecord`).
    ///
    /// Such records stay stored until ``removeUndecodable(_:)`` removes them. Inserting an item under the key of such a
    /// record moves the record to another key; if the engine can't read the record, the insertion throws its error.
    /// Removing an item also removes the duplicate records of this item, but no record that could not be decoded.
    public var undecodable: [StorageError] { model.undecodable }
}

extension Store {

    /// The events of the store, as a new stream for each use of this property. A stream has one reader.
    ///
    /// The first event is a snapshot: ``StoreEvent/Operation/loaded`` with all items, or
    /// ``StoreEvent/Operation/initialized`` while the items are not loaded. After it, each insertion and each removal
    /// is one event, in order, including those of a chain or a transaction and those of operations that were written as
    /// one batch. When a reader receives an event, the store already shows the whole change that the event belongs to.
    ///
    /// There is one exception. If other origins have changed the same collection between the store's last read and its
    /// own write, the store reports the net effect of the log up to its own last change, then the net effect of what
    /// follows. Each stored version is reported once, in the order of the log, but operations of one batch may share
    /// one event, and a version that a later operation of the same batch has replaced may be left out.
    ///
    /// A reader that falls too far behind receives another snapshot instead of the events that it has missed. The
    /// stream ends when the store is deallocated.
    public var events: AsyncStream<StoreEvent<Item>> { model.events() }

    /// Returns a stream of an item's versions: immediately the current one or `nil`, then one after each change.
    ///
    /// The stream emits nothing while the store loads. A reader that is slower than the changes receives only the
    /// latest version. The stream may emit an unchanged version again. It ends when the store is deallocated.
    ///
    /// - Parameter id: The item's identifier.
    public func values(id: String) -> AsyncStream<Item?> { model.values(of: CacheKey(id)) }
}
