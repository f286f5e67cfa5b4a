public import Bodega
import Foundation
public import Observation
#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// Keeps items of one type: in memory, where they are read like an array, and in a storage engine, from which they come
/// back after a relaunch.
///
/// ```swift
/// let store = Store<Note>(storage: SQLiteStorageEngine.default(appendingPath: "Notes"), cacheIdentifier: \.id)
///
/// try await store.insert(Note(id: "milk", text: "Buy milk"))
/// try await store.update("milk") { $0.text = "Buy oat milk" }
/// print(store.items, store["milk"] as Any)
/// ```
///
/// ## What you can rely on
/// - Operations take effect in the order in which they were called, from wherever that was, each all or not at all. They
///   are written first and shown after: once an awaited call has returned, ``items`` and the engine agree; when it has
///   thrown, it has changed neither, see <doc:WhenThingsGoWrong>.
/// - An operation costs what it changes, whatever the number of items. Reading, writing, encoding and decoding happen
///   off the main actor. Operations that wait at the same time are written as one batch and show as one change.
/// - Operations wait until the items are loaded. If they can't be, ``state`` says so and operations are refused, so that
///   nothing is overwritten that was not read. ``reload()`` tries again.
/// - A record that can't be decoded stays stored, takes no other with it, and is reported in ``undecodable``.
///
/// Cancelling a task does not cancel the operations that it has called.
///
/// ## Watching
/// ``items``, ``state``, ``subscript(_:)`` and the other properties can be tracked by the Observation framework. The
/// store is an `ObservableObject`, and `$items` a publisher of all items. ``events`` and ``values(id:)`` are streams.
///
/// A copy of ``items`` that you keep makes the next change copy the array. Ask for what you need when you need it.
@MainActor
public final class Store<Item: StorableItem>: ObservableObject, Observable {

    /// All items, in the order in which they were first inserted. `$items` publishes them.
    ///
    /// Inserting an item with the identifier of another one replaces that at its place.
    @StoreItems public var items: [Item]

    /// Fires before ``items``, ``state`` or ``undecodable`` change.
    public nonisolated var objectWillChange: ObservableObjectPublisher { model.objectChanges.publisher }

    let model: StoreModel<Item>
    let pipeline: StorePipeline<Item>

    /// Creates a store and loads its items in the background.
    ///
    /// Whether that succeeds is seen in ``state``, and ``itemsHaveLoaded()`` tells. Where you can wait, use the
    /// initializer that is `async` and throws.
    ///
    /// At the top level of `main.swift`, Swift always chooses this initializer. After `try await`, the compiler then warns
    /// that no `async` operations occur. Call ``itemsHaveLoaded()`` there.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept. Nothing else should be kept there; a database holds several collections,
    ///     see `SQLiteStorageEngine.collection(named:)`.
    ///   - cacheIdentifier: What identifies an item.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
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
    /// At the top level of `main.swift`, Swift chooses the initializer that loads in the background, also after
    /// `try await`. Call ``itemsHaveLoaded()`` there, or create the store in an `async` function.
    ///
    /// - Parameters:
    ///   - storage: Where the items are kept. Nothing else should be kept there; a database holds several collections,
    ///     see `SQLiteStorageEngine.collection(named:)`.
    ///   - cacheIdentifier: What identifies an item.
    ///   - coder: How an item becomes bytes; JSON by default.
    ///   - migration: The earlier shapes of the items, and how to convert them.
    /// - Throws: What the engine throws if the items can't be read. That some can't be decoded is no error here; see
    ///   ``undecodable``.
    public nonisolated convenience init(
        storage: any StorageEngine,
        cacheIdentifier: KeyPath<Item, String>,
        coder: any ObjectCoder = .json,
        migration: ItemMigration<Item>? = nil
    ) async throws {
        let coding = RecordCoding(identifier: cacheIdentifier, coder: coder, migration: migration)
        self.init(RecordStorage(engine: storage, coding: coding))
        pipeline.load()
        try await itemsHaveLoaded()
    }

    /// Creates a store that has its items if some are given, else its pipeline must load them.
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
