public import Bodega
public import Foundation
public import Observation

/// The synchronization of a local database with a remote one.
///
/// ```swift
/// let file = try SQLiteStorageEngine(openingFile: url)
/// let server = try RemoteDatabase(address) { token }
/// let sync = try await StorageSync(
///     local: { try file.collection(named: $0) }, remote: { try await server.collection(named: $0) })
/// let notes = try await sync.collection(named: "notes", preserving: Note.self)
/// let store = try await Store<Note>(storage: notes)
/// ```
///
/// Reads and writes use the local database, with or without a network. What is written is durable there, with an entry
/// in the outbox, in one transaction. In the background, entries are sent, and what others have changed is merged.
///
/// - All programs that write to the local collections use a `StorageSync`; what others write stays local until then.
/// - An item whose change the remote database refuses is parked, see ``parked()``, and holds up no other.
/// - Each change has one effect, however often it is sent.
/// - A transaction is sent as one, as is a batch with conditions. Another batch is sent item by item.
/// - Where this replica and others have changed an item, see ``SyncConflictPolicy``. The versions that were not taken
///   are kept, see ``conflicts()``.
public final class StorageSync: StorageDatabase, Observable {
    private let work: SyncWork
    private let runner: SyncRunner
    private let open: @Sendable (String) async throws -> any StorageBackend
    private let options: SyncOptions
    private let state: SyncState

    /// Begins to synchronize.
    ///
    /// - Parameters:
    ///   - local: Opens a collection of the local database. Three more are for the synchronization itself. Their names
    ///     begin with `emporium-`.
    ///   - remote: The remote database.
    ///   - options: How to synchronize.
    ///   - clock: The clock of delays.
    /// - Throws: A `StorageError` if the local database can't be opened.
    public init(
        local: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine, remote: any SyncRemote,
        options: SyncOptions = SyncOptions(), clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        open = { try await local($0).backend }
        self.options = options
        let outbox = try await OutboxStorage(open)
        state = SyncState(outbox, isPaused: options.startsPaused)
        work = SyncWork(outbox: outbox, remote: remote, collections: SyncedCollections(open), state: state)
        runner = SyncRunner(work, options, clock: clock) { [state] in state.take($0) }
        try await state.begin()
        try await runner.begin()
    }

    /// Begins to synchronize with engines.
    ///
    /// - Parameters:
    ///   - local: Opens a collection of the local database. Three more are for the synchronization itself. Their names
    ///     begin with `emporium-`.
    ///   - remote: Opens a collection of the remote database. It is called when it is needed first, and again after an
    ///     error.
    ///   - options: How to synchronize.
    /// - Throws: A `StorageError` if the local database can't be opened.
    public convenience init(
        local: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine,
        remote: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine,
        options: SyncOptions = SyncOptions()
    ) async throws {
        try await self.init(local: local, remote: EngineSyncRemote(remote), options: options)
    }

    deinit {
        state.finish()
        Task { [runner] in await runner.end() }
    }

    // MARK: Collections

    /// Opens a collection, and synchronizes it from now on. Items that it has already are sent.
    ///
    /// Write to it only with the engine that this returns. What another engine writes to the local collection is not
    /// sent, and the first time that the remote collection is read, items that only another engine has written in the
    /// meantime are removed.
    ///
    /// - Parameters:
    ///   - name: The name of the collection, in both databases.
    ///   - policy: How its versions are merged; by default that of the options.
    /// - Returns: The engine, for stores, storages, queries and all else.
    /// - Throws: A `StorageError` if the local collection can't be opened, or one is open whose name is another
    ///   spelling of this one.
    public func collection(named name: String, policy: SyncConflictPolicy? = nil) async throws -> SyncedStorageEngine {
        try await collection(named: name, policy: policy, known: nil)
    }

    /// Opens a collection of JSON objects of a type, and synchronizes it from now on. Items that it has already are
    /// sent.
    ///
    /// Properties that the type does not know, because another version of the app has written them, are kept when this
    /// one changes an item.
    ///
    /// - Parameters:
    ///   - name: The name of the collection, in both databases.
    ///   - type: The type of the objects.
    ///   - coder: How objects become bytes.
    ///   - policy: How its versions are merged; by default that of the options.
    /// - Returns: The engine, for stores, storages, queries and all else.
    /// - Throws: A `StorageError` if the local collection can't be opened.
    public func collection<Object: Codable>(
        named name: String, preserving type: Object.Type, coder: any ObjectCoder = .json,
        policy: SyncConflictPolicy? = nil
    ) async throws -> SyncedStorageEngine {
        try await collection(named: name, policy: policy) { data, key in
            try coder.encode(try coder.decode(Object.self, from: data, for: key), for: key)
        }
    }

    private func collection(
        named name: String, policy: SyncConflictPolicy?, known: (@Sendable (Data, CacheKey) throws -> Data)?
    ) async throws -> SyncedStorageEngine {
        let engine = try await open(name)
        try engine.checkKeepsItems()
        try work.collections.add(
            SyncedCollection(engine: engine, policy: policy ?? options.policy, known: known), named: name)
        try await work.adopt(name)
        try await runner.collectionsChanged()
        return SyncedStorageEngine(sync: self, collectionName: name, base: engine)
    }

    // MARK: Progress

    /// The state, observable with the Observation framework.
    public var status: SyncStatus { state.status(for: self) }

    /// The state, now and after each change, until the synchronization is released.
    public var statusUpdates: AsyncStream<SyncStatus> { state.updates() }

    /// What becomes of changes from now on, until the synchronization is released.
    public var outcomes: AsyncStream<SyncOutcome> { state.outcomes() }

    /// Pauses: nothing more is sent or read. Writes go to the outbox.
    ///
    /// Until it goes on, ``status`` counts the changes that this program makes, and not those that other programs on
    /// the same database write or send. ``pending(limit:)`` and ``parked()`` read them.
    public func pause() async { await runner.pause() }

    /// Goes on after ``pause()``.
    public func resume() async { await runner.resume() }

    /// Tries everything immediately, also what waits after a failure.
    public func syncNow() async { await runner.handle(.hurry) }

    /// Waits until the remote database has all changes of the open collections that were made before the call, but
    /// those that are parked, and until what it had at that time was read. It does not wait for later changes. If the
    /// remote database was restored from a backup or replaced, it waits until it has again what it lacks. A transaction
    /// that has changed a collection that is not open, too, is waited for until a program opens it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled; without a network, nothing else ends the wait.
    public func settled() async throws {
        if work.collections.names.isEmpty { return }
        let start = state.pulls
        var replacements = state.replacements
        var changes = try await UnsettledChanges(of: work.outbox, in: work.collections)
        await runner.handle(.hurry)
        for await _ in state.updates() where state.lastPull > start {
            if state.replacements != replacements {
                replacements = state.replacements
                changes = try await UnsettledChanges(of: work.outbox, in: work.collections)
            }
            if try await changes.areSettled() { return await state.counted() }
        }
        try Task.checkCancellation()
    }

    // MARK: What is left

    /// The changes that the remote database does not have yet, the oldest first, with those that are parked.
    ///
    /// - Parameter limit: The maximum number.
    /// - Throws: A `StorageError` if the outbox can't be read.
    public func pending(limit: Int = .max) async throws -> [PendingChange] {
        try await work.outbox.pending(limit: limit)
    }

    /// The changes that the remote database refuses.
    ///
    /// - Throws: A `StorageError` if the outbox can't be read.
    public func parked() async throws -> [PendingChange] { try await pending().filter { $0.failure != nil } }

    /// Sends a parked change again, with the others of its transaction.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - collection: The name of its collection.
    /// - Throws: A `StorageError` if the outbox can't be changed.
    public func retry(_ key: CacheKey, in collection: String) async throws {
        let item = SyncItemID(collection: collection, key: key)
        try await work.transact([item]) { $0.retry(item) }
        await changed()
    }

    /// Gives up a change that is not sent yet, with the others of its transaction: the items are again as the remote
    /// database has them. A change that is being sent can't be given up; this has no effect on it. One that was not
    /// applied, and waits for a program that opens all collections of its transaction, can.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - collection: The name of its collection.
    /// - Throws: A `StorageError` if the outbox can't be changed, with the code `damaged` if the change is: then it is
    ///   not known what the remote database has.
    public func discard(_ key: CacheKey, in collection: String) async throws {
        let item = SyncItemID(collection: collection, key: key)
        try await work.outbox.checkRecord(of: item)
        let requests = try await work.outbox.fetchPlace().requests
        let waiting = requests.filter { $0.wasApplied == false }.flatMap(\.groups).first { $0.contains(item) }
        try await work.transact([item] + (waiting ?? []), needsPlace: waiting != nil) { $0.discard(item) }
        await changed()
    }

    /// The merged changes of which a property was not taken, the oldest first, until they are removed.
    ///
    /// - Throws: A `StorageError` if they can't be read.
    public func conflicts() async throws -> [StoredConflict] { try await work.outbox.fetchConflicts() }

    /// Removes a conflict that the user has dealt with.
    ///
    /// - Parameter id: Its identifier.
    /// - Throws: A `StorageError` if it can't be removed.
    public func removeConflict(_ id: StoredConflict.ID) async throws { try await work.outbox.removeConflict(id) }

    private func changed() async { await runner.handle(.outboxChanged) }

    // MARK: Writing

    public func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        let parts = try parts.map { part in
            guard let engine = part.engine as? SyncedStorageEngine, engine.sync === self else {
                throw StorageError(.invalidArgument, "The collection is not one of this synchronization.")
            }
            return (engine.collectionName, part.batch)
        }
        return try await apply(parts)
    }

    func apply(_ parts: [(collection: String, batch: StorageBatch)]) async throws -> [BatchOutcome] {
        let outcomes = try await work.write(parts)
        if outcomes.allSatisfy(\.wasApplied) { await changed() }
        return outcomes
    }

    public func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        guard let database = work.outbox.records.groupDatabase else { return try await body() }
        try await database.atOneMoment(body)
    }
}
