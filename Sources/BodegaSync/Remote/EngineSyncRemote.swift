public import Bodega
import Foundation

/// Engines as the remote database: those of a server, a PostgreSQL database, or others.
///
/// The engines need conditional batches, see `StorageTraits.conditional`. With a log, a pull reads what has changed;
/// otherwise it reads all items. Transactions over several collections need engines of one database.
///
/// An engine whose batches have conditions only if they are of one item, such as `HTTPStorageEngine` with
/// `HTTPStorageOptions.usesEntityTags`, needs a `maximumItems` of 1 and a `signalsChanges` of `false`.
public final class EngineSyncRemote: SyncRemote {
    private let open: @Sendable (String) async throws -> any StorageBackend
    private let opened = Locked<[String: Opened]>([:])

    /// The batches that are being sent, and those that were applied since the last pull. Their items need not be read.
    private let known = Locked<[UUID: KnownBatch]>([:])

    private struct KnownBatch {
        let batch: SyncBatch
        var isApplied = false
    }

    private struct Opened {
        let engine: any StorageBackend
        /// Whether it is opened again before the next use.
        var isStale = false
    }

    public let maximumItems: Int
    public let signalsChanges: Bool
    /// How often an engine is asked that has no log although the others have one, such as that of a server's client
    /// without the right to observe.
    private let pollInterval: Duration

    /// Creates a remote database.
    ///
    /// - Parameters:
    ///   - maximumItems: The maximum number of items that the engines change together.
    ///   - signalsChanges: Whether the engines have logs. One that has none is asked every 30 seconds.
    ///   - open: Opens the engine on a collection. It is called when it is needed first, and again after an error.
    public convenience init(
        maximumItems: Int = 1_000, signalsChanges: Bool = true,
        _ open: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine
    ) {
        self.init(maximumItems: maximumItems, signalsChanges: signalsChanges, pollInterval: .seconds(30), open)
    }

    init(
        maximumItems: Int = 1_000, signalsChanges: Bool = true, pollInterval: Duration,
        _ open: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine
    ) {
        (self.maximumItems, self.signalsChanges, self.pollInterval) = (maximumItems, signalsChanges, pollInterval)
        self.open = { try await open($0).backend }
    }

    /// The engine on a collection.
    private func engine(_ collection: String) async throws -> any StorageBackend {
        if let opened = opened.withLock({ $0[collection] }), !opened.isStale { return opened.engine }
        let engine = try await open(collection)
        guard engine.traits.contains(.conditional) || maximumItems == 1 else {
            throw StorageError(
                .invalidArgument,
                "The remote database can't be synchronized with: it has no conditional batches.")
        }
        return opened.withLock { opened in
            if let other = opened[collection], !other.isStale { return other.engine }
            opened[collection] = Opened(engine: engine)
            return engine
        }
    }

    /// Opens engines again after an error that may concern them.
    private func reopen(after error: any Error) {
        guard let code = (error as? StorageError)?.code else { return }
        guard [.closed, .placeRemoved, .cannotOpen].contains(code) else { return }
        opened.withLock { opened in
            for name in opened.keys { opened[name]?.isStale = true }
        }
    }

    public func apply(_ batch: SyncBatch) async throws -> Bool {
        // A pull may see its effect before the answer comes.
        remember(batch)
        var wasApplied = false
        defer { known.withLock { if wasApplied { $0[batch.id]?.isApplied = true } else { $0[batch.id] = nil } } }
        do {
            var parts: [(engine: any StorageBackend, batch: StorageBatch)] = []
            for (collection, changes) in batch.collections {
                var part = StorageBatch(
                    changes.map { change in
                        change.data.map { .write(key: change.key, data: $0) } ?? .remove(key: change.key)
                    },
                    if: changes.map { StorageCondition(key: $0.key, data: $0.base) })
                (part.origin, part.identifier) = (StorageOrigin(id: batch.id), batch.id)
                parts.append((try await engine(collection), part))
            }
            wasApplied = try await StorageBatchGroup.apply(parts).allSatisfy(\.value.wasApplied)
            return wasApplied
        } catch let error as StorageError where error.code == .permissionDenied && error.key == nil {
            throw try await naming(batch.collections, error)
        } catch {
            reopen(after: error)
            throw error
        }
    }

    /// Adds to an error about a missing right the names of those collections to which the client may not write, not
    /// even a batch that is not applied. If there are none, the error is about an item.
    private func naming(
        _ collections: [(name: String, changes: [SyncBatch.Change])], _ error: StorageError
    ) async throws -> StorageError {
        var missing = MissingRights(collections: [])
        for (name, changes) in collections {
            // No item has these bytes. An empty batch would signal a change.
            let unmet = StorageCondition(key: changes[0].key, data: Data(UUID().uuidString.utf8))
            do {
                _ = try await engine(name).apply(StorageBatch([], if: [unmet]))
            } catch let other as StorageError where other.code == .permissionDenied && other.key == nil {
                missing.collections.insert(name)
            }
        }
        var error = error
        if !missing.collections.isEmpty { error.cause = missing }
        return error
    }

    /// Keeps a batch until a pull has passed it. One with a removal can have changed more than it says, because of
    /// references.
    private func remember(_ batch: SyncBatch) {
        guard signalsChanges, batch.changes.allSatisfy({ $0.data != nil }) else { return }
        known.withLock { known in
            let bytes = known.values.reduce(batch.byteCount) { $0 + $1.batch.byteCount }
            if known.count < 64, bytes <= 16 << 20 { known[batch.id] = KnownBatch(batch: batch) }
        }
    }

    public func fence(_ batch: SyncBatch) async throws -> Bool {
        guard let collection = batch.changes.first?.collection else { return true }
        // An engine without receipts should not apply a batch after it has thrown. Its log shows whether it has before.
        guard let database = try await receiptsDatabase(of: collection) else { return false }
        return try await database.fence(batch.id)
    }

    /// The database that knows what has become of the changes of a collection; `nil` if its engine has no receipts.
    ///
    /// It is also found if the collection can't be opened any more, for instance because the client has lost its right
    /// to it.
    private func receiptsDatabase(of collection: String) async throws -> (any StorageDatabase)? {
        do {
            return try await engine(collection).receiptsDatabase
        } catch {
            let opened = opened.withLock { $0 }
            if let engine = opened[collection]?.engine { return engine.receiptsDatabase }
            let databases = opened.values.map(\.engine.receiptsDatabase)
            guard let database = databases.first, databases.allSatisfy({ $0 === database }) else { throw error }
            return database
        }
    }

    public func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws {
        let known = known.withLock { $0 }
        let pull = EnginePull(receive, knowing: known.values.map(\.batch)) { try await self.engine($0) }
        do {
            let missing = try await pull.run(places, needing: keys)
            self.known.withLock { $0 = $0.filter { known[$0.key]?.isApplied != true } }
            for error in missing.values { reopen(after: error) }
        } catch {
            reopen(after: error)
            throw error
        }
    }

    public func signals(of collections: [String]) -> AsyncStream<Void> {
        let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                for collection in collections {
                    group.addTask { await self.follow(collection, signals.continuation) }
                }
            }
        }
        signals.continuation.onTermination = { _ in task.cancel() }
        return signals.stream
    }

    private func follow(_ collection: String, _ signals: AsyncStream<Void>.Continuation) async {
        var delay = Duration.milliseconds(500)
        while !Task.isCancelled {
            do {
                let engine = try await engine(collection)
                guard let log = engine.log else {
                    if !signalsChanges { return }
                    try await Task.sleep(for: pollInterval)
                    signals.yield()
                    continue
                }
                delay = .milliseconds(500)
                for await _ in log.changeSignals(excluding: nil) { signals.yield() }
            } catch {
                // The pull that follows reports the error.
                signals.yield()
            }
            do { try await Task.sleep(for: delay * Double.random(in: 0.5...1)) } catch { return }
            delay = min(delay * 2, .seconds(8))
        }
    }
}

/// The collections of a batch to which the client may not write.
struct MissingRights: Error, CustomStringConvertible {
    var collections: Set<String>

    var description: String { "collections: \(collections.sorted().joined(separator: ", "))" }
}

extension StorageBackend {
    /// The database in which batches leave receipts; `nil` if they don't.
    fileprivate var receiptsDatabase: (any StorageDatabase)? { traits.contains(.receipts) ? groupDatabase : nil }
}

extension SyncBatch {
    /// The number of bytes of its items.
    fileprivate var byteCount: Int { changes.reduce(0) { $0 + ($1.data?.count ?? 0) } }

    /// The changes of each collection, in their order.
    fileprivate var collections: [(name: String, changes: [Change])] {
        var (order, changes): ([String], [String: [Change]]) = ([], [:])
        for change in self.changes {
            if changes[change.collection] == nil { order.append(change.collection) }
            changes[change.collection, default: []].append(change)
        }
        return order.map { ($0, changes[$0] ?? []) }
    }
}
