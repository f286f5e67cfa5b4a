public import Bodega
public import Observation

/// The values of a property that the items of a storage have, each once, with the number of items, as they change.
///
/// ```swift
/// let tags = LiveValues(of: \.tag, in: notes)
///
/// for tag in tags.values { print(tag.value, tag.count) }
/// ```
///
/// The values are those of `ObjectStorage.values(of:matching:)`, in its order. They are read again after changes, once
/// for all changes of the meantime, and only if an item of the collection has changed. With an index over the property,
/// see `Queryable`, that reads one item for each value; without one, it reads all items, of which only the values are
/// kept.
///
/// This needs an engine that has a log of its changes. With another engine, ``reload()`` reads the values again.
///
/// The Observation framework tracks ``values``, ``state`` and ``undecodable``, and the object is also an
/// `ObservableObject`.
@MainActor
public final class LiveValues<Value: Hashable & Sendable, Item: StorableItem>: ObservableObject, Observable {

    /// A publisher that emits before ``values`` or another property changes.
    public nonisolated var objectWillChange: ObservableObjectPublisher { loader.objectChanges.publisher }

    let loader: LiveValuesLoader<Value, Item>

    /// Reads the values in the background.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - query: The items whose values are counted; by default all. The order of the query has no effect.
    ///   - storage: The storage of the items.
    public nonisolated init(
        of property: any KeyPath<Item, Value> & Sendable, matching query: Query<Item> = Query(),
        in storage: ObjectStorage<Item>
    ) {
        loader = LiveValuesLoader(property, query, storage)
        _values = LiveValueCounts(loader)
        loader.begin()
    }

    deinit {
        loader.end()
        Task { @MainActor [loader] in loader.finish() }
    }

    /// The values, in ascending order, see `ObjectStorage.values(of:matching:)`. `$values` publishes them.
    @LiveValueCounts<Value, Item> public var values: [ValueCount<Value>]

    /// The outcome of the last attempt to read the engine.
    ///
    /// It is ``StoreState/failed(_:)`` if the engine could not be read. The values that are loaded stay until an
    /// attempt succeeds.
    public var state: StoreState {
        loader.statePoint.access()
        return loader.state
    }

    /// The errors of records that could not be decoded or decrypted, at most 1,000. Their values are not counted,
    /// unless an index knows them.
    public var undecodable: [StorageError] {
        loader.statePoint.access()
        return loader.undecodable
    }

    /// Waits until the values are loaded. If they are loaded already, it returns immediately.
    ///
    /// - Throws: The engine's error if the values could not be read.
    public func valuesHaveLoaded() async throws {
        if !loader.state.isLoaded { try await loader.catchUp() }
    }

    /// Reads the values again.
    ///
    /// - Throws: The engine's error. The values that are loaded stay.
    public func reload() async throws { try await loader.reload() }
}
