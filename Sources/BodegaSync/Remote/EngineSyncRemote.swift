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
    private let opened = Locked<[String: any StorageBackend]>([:])

    public let maximumItems: Int
    public let signalsChanges: Bool

    /// Creates a remote database.
    ///
    /// - Parameters:
    ///   - maximumItems: The maximum number of items that the engines change together.
    ///   - signalsChanges: Whether the engines have logs.
    ///   - open: Opens the engine on a collection. It is called when it is needed first, and again after an error.
    public init(
        maximumItems: Int = 1_000, signalsChanges: Bool = true,
        _ open: @escaping @Sendable (_ collection: String) async throws -> any StorageEngine
    ) {
        (self.maximumItems, self.signalsChanges) = (maximumItems, signalsChanges)
        self.open = { try await open($0).backend }
    }

    /// The engine on a collection.
    private func engine(_ collection: String) async throws -> any StorageBackend {
        if let engine = opened.withLock({ $0[collection] }) { return engine }
        let engine = try await open(collection)
        guard engine.traits.contains(.conditional) || maximumItems == 1 else {
            throw StorageError(
                .invalidArgument,
                "\(type(of: engine)) can't be synchronized with: it has no conditional batches.")
        }
        return opened.withLock { opened in
            if let other = opened[collection] { return other }
            opened[collection] = engine
            return engine
        }
    }

    /// Opens engines again after an error that may concern them.
    private func reopening<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError where [.closed, .placeRemoved, .cannotOpen].contains(error.code) {
            opened.withLock { $0 = [:] }
            throw error
        }
    }

    public func apply(_ batch: SyncBatch) async throws -> Bool {
        try await reopening {
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
            return try await StorageBatchGroup.apply(parts).allSatisfy(\.value.wasApplied)
        }
    }

    public func fence(_ batch: SyncBatch) async throws -> Bool {
        guard let collection = batch.changes.first?.collection else { return true }
        let engine = try await engine(collection)
        // An engine without receipts never applies a batch after it has thrown. Its log shows whether it has before.
        guard engine.traits.contains(.receipts), let database = engine.groupDatabase else { return false }
        return try await database.fence(batch.id)
    }

    public func pull(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]],
        _ receive: @escaping @Sendable (SyncNews) async throws -> Void
    ) async throws {
        try await reopening {
            var cursors: [String: StorageCursor] = [:]
            for (collection, cursor) in places { cursors[collection] = cursor }
            // Before the changes, so that those are from a later moment, the same in all collections.
            var needed: [String: [(key: CacheKey, data: Data?)]] = [:]
            for collection in cursors.keys {
                needed[collection] = try await items(keys[collection] ?? [], of: try await engine(collection))
            }
            let deltas = try await deltas(since: cursors)
            var snapshots = 0
            for collection in places.keys.sorted() {
                if let delta = deltas[collection] {
                    try await pass(delta, after: needed[collection] ?? [], of: collection, receive)
                    cursors[collection] = delta.cursor
                } else {
                    cursors[collection] = try await passAll(of: collection, try await engine(collection), receive)
                    snapshots += 1
                }
            }
            if snapshots == 0 || cursors.count < 2 { return }
            // Each snapshot is from a moment of its own, which would divide transactions of several collections.
            for (collection, delta) in try await self.deltas(since: cursors) {
                try await pass(delta, of: collection, receive)
            }
        }
    }

    /// The changes of collections, all from one moment if the engines can; none of one whose log does not reach back.
    private func deltas(since cursors: [String: StorageCursor]) async throws -> [String: StorageDelta] {
        var requests: [(collection: String, engine: any StorageBackend, request: ChangesRequest)] = []
        for (collection, cursor) in cursors {
            let engine = try await engine(collection)
            guard engine.log != nil else { continue }
            requests.append((collection, engine, ChangesRequest(since: cursor, needsItems: true)))
        }
        var deltas: [String: StorageDelta] = [:]
        if requests.count > 1, let database = requests[0].engine.database,
            requests.allSatisfy({ $0.engine.database === database })
        {
            let answers = try await database.fetchChanges(requests.map { ($0.engine, $0.request) })
            for (request, answer) in zip(requests, answers) { deltas[request.collection] = answer.value }
        } else {
            for (collection, engine, request) in requests {
                deltas[collection] = try await engine.log?.fetchChanges(request).value
            }
        }
        return deltas
    }

    private func pass(
        _ delta: StorageDelta, after earlier: [(key: CacheKey, data: Data?)] = [], of collection: String,
        _ receive: (SyncNews) async throws -> Void
    ) async throws {
        try await receive(.begin(collection: collection, isWhole: false))
        if !earlier.isEmpty { try await receive(.items(earlier, collection: collection, batches: [])) }
        var (last, order): ([CacheKey: StorageChange.Kind], [CacheKey]) = ([:], [])
        for change in delta.changes where last.updateValue(change.kind, forKey: change.key) == nil {
            order.append(change.key)
        }
        let items = Dictionary(delta.items.map { ($0.key, $0.data) }) { first, _ in first }
        let news = order.map { key in (key: key, data: items[key]) }
        let batches = Set(delta.changes.compactMap { $0.origin?.shared.id })
        if !news.isEmpty { try await receive(.items(news, collection: collection, batches: batches)) }
        try await receive(.end(collection: collection, cursor: delta.cursor))
    }

    private func items(
        _ keys: [CacheKey], of engine: any StorageBackend
    ) async throws -> [(key: CacheKey, data: Data?)] {
        if keys.isEmpty { return [] }
        let items = try await engine.fetch(FetchRequest(keys, options: ReadOptions(needsOriginal: true))).value
        let found = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
        return keys.map { (key: $0, data: found[$0]) }
    }

    /// - Returns: The cursor from before the items were read; `nil` without a log.
    private func passAll(
        of collection: String, _ engine: any StorageBackend, _ receive: (SyncNews) async throws -> Void
    ) async throws -> StorageCursor? {
        try await receive(.begin(collection: collection, isWhole: true))
        // What changes while the items are read comes again after this cursor.
        let cursor = try await engine.log?.fetchCursor()
        guard engine.traits.contains(.stablePositions) else {
            // In parts, each item would be a request.
            let news = try await engine.fetchAll().map { (key: $0.key, data: Data?.some($0.data)) }
            try await receive(.items(news, collection: collection, batches: []))
            try await receive(.end(collection: collection, cursor: cursor))
            return cursor
        }
        try await engine.readParts(options: ReadOptions(needsOriginal: true)) { part in
            let news = part.value.map { (key: $0.key, data: Data?.some($0.data)) }
            if !news.isEmpty { try await receive(.items(news, collection: collection, batches: [])) }
            if part.report.unreadable.isEmpty { return }
            let keys = part.report.unreadable.compactMap(\.key)
            guard keys.count == part.report.unreadable.count else {
                throw StorageError(
                    .damaged, "An item of the remote database can't be read.", cause: part.report.unreadable.first)
            }
            try await receive(.unreadable(keys, collection: collection))
        }
        try await receive(.end(collection: collection, cursor: cursor))
        return cursor
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
                guard let log = engine.log else { return }
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

extension SyncBatch {
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
