public import Bodega
import Foundation
public import Observation

/// A collection of items of one type, kept in memory, where it is read like an array, and in a storage engine, from
/// which it is loaded after a relaunch.
///
/// ```swift
/// let store = Store<Note>(storage: SQLiteStorageEngine.default(appendingPath: "Notes"), cacheIdentifier: \.id)
///
/// try await store.insert(Note(id: "milk", text: "Buy milk"))
/// try await store.update(id: "milk") { $0.text = "Buy oat milk" }
/// print(store.items, store["milk"] as Any)
/// ```
///
/// ## What you can rely on
/// - Operations are atomic and take effect in the order of their calls, from any task or thread. An operation is
///   written to the engine before ``items`` change: when an awaited call has returned, ``items`` and the engine agree;
///   when it has thrown, it has changed neither, see <doc:WhenThingsGoWrong>.
/// - The cost of an operation depends on what it changes, not on the number of items. Reading, writing, encoding and
///   decoding happen off the main actor. Operations that wait are written as one batch and appear as one change.
/// - Operations wait until the items are loaded. If loading fails, ``state`` is ``StoreState/failed(_:)`` and
///   operations throw, so that the store never overwrites records that it has not read. ``reload()`` retries.
/// - A record that can't be decoded stays stored, does not affect other records, and is reported in ``undecodable``.
///
/// Cancelling a task does not cancel the operations that it has started.
///
/// ## Observing changes
/// The Observation framework tracks ``items``, ``state``, ``subscript(_:)-(String)`` and the other properties. The
/// store is also an `ObservableObject`, `$items` publishes all items, and ``events`` and ``values(id:)-(String)`` are
/// asynchronous sequences.
///
/// If you keep a copy of ``items``, the next change copies the whole array. Read the items when you need them instead.
@MainActor
public final class Store<Item: StorableItem>: ObservableObject, Observable {

    /// All items, in the order in which they were first inserted. `$items` publishes them.
    ///
    /// Inserting an item with the identifier of another item replaces that item in its place.
    @StoreItems public var items: [Item]

    /// A publisher that emits before ``items``, ``state`` or ``undecodable`` change.
    public nonisolated var objectWillChange: ObservableObjectPublisher { model.objectChanges.publisher }

    let model: StoreModel<Item>
    let pipeline: StorePipeline<Item>

    /// Creates a store and loads its items in the background.
    ///
    /// To find out whether loading succeeds, read ``state`` or call ``itemsHaveLoaded()``. In asynchronous code, use
    /// the initializer that is `async` and throws.
    ///
    /// At the top level of `main.swift`, Swift always chooses this initializer. If you write `try await` before it, the
    /// compiler warns that no `async` operations occur. Call ``itemsHaveLoaded()`` there.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items. Don't store anything else in it. A database can hold several
    ///     collections, see `SQLiteStorageEngine.collection(named:)`.
    ///   - cacheIdentifier: The key path of the items' identifier.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    public nonisolated convenience init(
        storage: any StorageEngine,
        cacheIdentifier: KeyPath<Item, String>,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) {
        let coding = RecordCoding(identifier: cacheIdentifier, coder: coder, migration: migration)
        self.init(RecordStorage(engine: storage, coding: coding))
        pipeline.load()
    }

    /// Creates a store and loads its items.
    ///
    /// At the top level of `main.swift`, Swift chooses the initializer that loads in the background, even after `try
    /// await`. Call ``itemsHaveLoaded()`` there, or create the store in an `async` function.
    ///
    /// - Parameters:
    ///   - storage: The engine that keeps the items. Don't store anything else in it. A database can hold several
    ///     collections, see `SQLiteStorageEngine.collection(named:)`.
    ///   - cacheIdentifier: The key path of the items' identifier.
    ///   - coder: The coder that encodes and decodes items; JSON by default.
    ///   - migration: The earlier shapes of the items and their conversions.
    /// - Throws: The engine's error if the items can't be read. An item that can't be decoded does not cause an error;
    ///   see ``undecodable``.
    public convenience init(
        storage: any StorageEngine,
        cacheIdentifier: KeyPath<Item, String>,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        let coding = RecordCoding(identifier: cacheIdentifier, coder: coder, migration: migration)
        self.init(RecordStorage(engine: storage, coding: coding))
        try await pipeline.loadAndWait()
    }

    /// Creates a store that shows the given items. If there are none, the caller must make the pipeline load them.
    nonisolated init(_ records: RecordStorage<Item>, showing loaded: LoadedRecords<Item>? = nil) {
        let model = StoreModel(loaded)
        self.model = model
        pipeline = StorePipeline(records: records, model: model)
        _items = StoreItems(model)
    }

    deinit {
        Task { @MainActor [model] in model.finish() }
    }
}
