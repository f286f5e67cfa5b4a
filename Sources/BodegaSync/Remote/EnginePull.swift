import Bodega
import Foundation
import Logging

/// A pull from engines.
///
/// 1. Of collections with a cursor, the items that are needed in any case are read before the changes, so that those
///    are from a later moment.
/// 2. The changes of all collections with a cursor are read from one moment, if the engines can.
///    What own batches have written is not read again.
/// 3. Of the others all items are read, and then once more what has changed in any collection.
///
/// A collection that can't be read is left out, as long as there is one that can.
struct EnginePull: Sendable {
    private let receiver: @Sendable (SyncNews) async throws -> Void
    private let engine: @Sendable (String) async throws -> any StorageBackend
    /// What own batches have written.
    private let known: [StorageOrigin: [SyncItemID: Data]]

    init(
        _ receiver: @escaping @Sendable (SyncNews) async throws -> Void, knowing batches: [SyncBatch],
        _ engine: @escaping @Sendable (String) async throws -> any StorageBackend
    ) {
        (self.receiver, self.engine) = (receiver, engine)
        known = Dictionary(
            uniqueKeysWithValues: batches.map { batch in
                let items = batch.changes.map {
                    (SyncItemID(collection: $0.collection, key: $0.key), $0.data ?? Data())
                }
                return (StorageOrigin(id: batch.id), Dictionary(items) { $1 })
            })
    }

    /// - Returns: The collections that could not be read, with the reasons.
    func run(
        _ places: [String: StorageCursor?], needing keys: [String: [CacheKey]]
    ) async throws -> [String: any Error] {
        do {
            let missing = try await collections(places, keys)
            for (name, error) in missing { try await receive(.missing(collection: name, error)) }
            return missing
        } catch let failure as ReceiverFailure {
            throw failure.cause
        }
    }

    private func collections(
        _ places: [String: StorageCursor?], _ keys: [String: [CacheKey]]
    ) async throws -> [String: any Error] {
        var missing: [String: any Error] = [:]
        func leaveOut(_ name: String, _ error: StorageError) throws {
            missing[name] = StorageError(
                error.code, "The collection \"\(name)\" can't be read: \(error.message)", cause: error)
            if missing.count == places.count { throw missing.count == 1 ? error : missing[name] ?? error }
        }
        var cursors: [String: StorageCursor] = [:]
        var needed: [String: NeededItems] = [:]
        for (name, cursor) in places {
            do {
                let engine = try await engine(name)
                guard let cursor else { continue }
                needed[name] = try await items(keys[name] ?? [], of: engine)
                cursors[name] = cursor
            } catch let error as StorageError where error.concernsOneCollection { try leaveOut(name, error) }
        }
        let deltas = try await deltas(since: cursors)
        var snapshots = 0
        for name in places.keys.sorted() where missing[name] == nil {
            do {
                let delta = try deltas[name]?.get()
                if let delta, let changes = delta.changes {
                    try await pass(delta, changes, after: needed[name] ?? NeededItems(), of: name)
                    cursors[name] = changes.cursor
                    continue
                }
                cursors[name] = try await passAll(of: name, try await engine(name), isOther: delta?.isOther ?? false)
                snapshots += 1
            } catch let error as StorageError where error.concernsOneCollection {
                cursors[name] = nil
                try leaveOut(name, error)
            }
        }
        if snapshots == 0 || cursors.count < 2 { return missing }
        // Each snapshot is from a moment of its own, which would divide transactions of several collections.
        for (name, delta) in try await self.deltas(since: cursors) {
            do {
                let delta = try delta.get()
                if let changes = delta.changes { try await pass(delta, changes, of: name) }
            } catch let error as StorageError where error.concernsOneCollection { try leaveOut(name, error) }
        }
        return missing
    }

    /// What has changed in a collection.
    private struct Delta {
        /// The changes; `nil` if the log does not reach back to the cursor, or is another one.
        var changes: StorageDelta?
        /// Whether the log is another one.
        var isOther = false
        /// The keys of the items that can't be read.
        var unreadable: [CacheKey] = []

        init(_ answer: StorageAnswer<StorageDelta?>) {
            (changes, isOther) = (answer.value, answer.report.isOtherLog)
        }
    }

    /// The changes of collections with a log, all from one moment if the engines can.
    private func deltas(since cursors: [String: StorageCursor]) async throws -> [String: Result<Delta, StorageError>] {
        do {
            return try await readableDeltas(since: cursors).mapValues { .success($0) }
        } catch let error as StorageError where error.concernsOneCollection {
            var (deltas, readable): ([String: Result<Delta, StorageError>], [String: StorageCursor]) = ([:], [:])
            for (name, cursor) in cursors {
                do {
                    if try await readableDeltas(since: [name: cursor])[name] != nil { readable[name] = cursor }
                } catch let error as StorageError where error.concernsOneCollection {
                    deltas[name] = await result { try await partlyReadableDelta(of: name, since: cursor) }
                }
            }
            return try await readableDeltas(since: readable).mapValues { .success($0) }.merging(deltas) { $1 }
        }
    }

    private func result(_ body: () async throws -> Delta) async -> Result<Delta, StorageError> {
        do {
            return .success(try await body())
        } catch {
            return .failure(
                error as? StorageError ?? StorageError(.inputOutput, "The changes can't be read.", cause: error))
        }
    }

    /// The changes of a collection, with those of their items that can be read one by one.
    private func partlyReadableDelta(of name: String, since cursor: StorageCursor) async throws -> Delta {
        let engine = try await engine(name)
        guard let log = engine.log else { return Delta(StorageAnswer(nil)) }
        var delta = Delta(try await log.fetchChanges(ChangesRequest(since: cursor)))
        while let changes = delta.changes, !changes.isComplete {
            let next = try await log.fetchChanges(ChangesRequest(since: changes.cursor))
            guard let more = next.value else { return Delta(next) }
            delta.changes = StorageDelta(
                changes: changes.changes + more.changes, cursor: more.cursor, isComplete: more.isComplete)
        }
        for key in Set(delta.changes?.changes.map(\.key) ?? []) {
            do {
                let request = FetchRequest([key], options: ReadOptions(needsOriginal: true))
                delta.changes?.items += try await engine.fetch(request).value
            } catch let error as StorageError where error.concernsOneCollection {
                delta.unreadable.append(key)
                syncLogger.warning(
                    "An item of the remote database can't be read.",
                    metadata: ["collection": "\(name)", "key": "\(key)", "error": "\(error)"])
            }
        }
        // The changes come again with each pull, until all their items can be read.
        if !delta.unreadable.isEmpty { delta.changes?.cursor = cursor }
        return delta
    }

    private func readableDeltas(since cursors: [String: StorageCursor]) async throws -> [String: Delta] {
        do {
            return try await deltasOfOneMoment(since: cursors)
        } catch let error as StorageError where error.code == .tooLarge && cursors.count > 1 {
            // More collections than a server reads together.
            let names = cursors.keys.sorted()
            let first = Set(names.prefix(names.count / 2))
            let deltas = try await readableDeltas(since: cursors.filter { first.contains($0.key) })
            let rest = try await readableDeltas(since: cursors.filter { !first.contains($0.key) })
            return deltas.merging(rest) { $1 }
        }
    }

    private func deltasOfOneMoment(since cursors: [String: StorageCursor]) async throws -> [String: Delta] {
        var requests: [(collection: String, engine: any StorageBackend, request: ChangesRequest)] = []
        for (collection, cursor) in cursors {
            let engine = try await engine(collection)
            guard engine.log != nil else { continue }
            var request = ChangesRequest(since: cursor, needsItems: true)
            request.known = Set(known.keys)
            requests.append((collection, engine, request))
        }
        var deltas: [String: Delta] = [:]
        if requests.count > 1, let database = requests[0].engine.database,
            requests.allSatisfy({ $0.engine.database === database })
        {
            do {
                let answers = try await database.fetchChanges(requests.map { ($0.engine, $0.request) })
                for (request, answer) in zip(requests, answers) { deltas[request.collection] = Delta(answer) }
                return deltas
            } catch let error as StorageError where error.code == .invalidArgument {
                // A server reads a collection of which the client sees what matches a filter only by itself.
            }
        }
        for (collection, engine, request) in requests {
            guard let log = engine.log else { continue }
            deltas[collection] = Delta(try await log.fetchChanges(request))
        }
        return deltas
    }

    private func pass(
        _ delta: Delta, _ changes: StorageDelta, after earlier: NeededItems = NeededItems(),
        of collection: String
    ) async throws {
        try await receive(.begin(collection: collection, isWhole: false))
        if !earlier.items.isEmpty { try await receive(.items(earlier.items, collection: collection, batches: [])) }
        if !earlier.unreadable.isEmpty { try await receive(.unreadable(earlier.unreadable, collection: collection)) }
        // The order in which the engine has the items: one that was removed and written again has moved to the end.
        var (last, order): ([CacheKey: (place: Int, kind: StorageChange.Kind)], [CacheKey?]) = ([:], [])
        // What the answer has is newer than what an own batch has written.
        let read = Dictionary(changes.items.map { ($0.key, $0.data) }) { first, _ in first }
        var items = read
        for change in changes.changes {
            if read[change.key] == nil {
                let own = change.kind == .written ? change.origin.flatMap { known[$0] } : nil
                items[change.key] = own?[SyncItemID(collection: collection, key: change.key)]
            }
            if let (place, kind) = last[change.key] {
                if kind == .written, change.kind == .written { continue }
                order[place] = nil
            }
            last[change.key] = (order.count, change.kind)
            order.append(change.key)
        }
        let hidden = Set(delta.unreadable)
        let news = order.compactMap { $0 }.filter { !hidden.contains($0) }.map { key in (key: key, data: items[key]) }
        let batches = Set(changes.changes.compactMap { $0.origin?.shared.id })
        if !news.isEmpty { try await receive(.items(news, collection: collection, batches: batches)) }
        if !hidden.isEmpty { try await receive(.unreadable(delta.unreadable, collection: collection)) }
        try await receive(.end(collection: collection, cursor: changes.cursor))
    }

    /// Items that are needed in any case, with `nil` for those that are absent.
    private struct NeededItems {
        var items: [(key: CacheKey, data: Data?)] = []
        /// The keys of the items that can't be read.
        var unreadable: [CacheKey] = []
    }

    private func items(_ keys: [CacheKey], of engine: any StorageBackend) async throws -> NeededItems {
        if keys.isEmpty { return NeededItems() }
        do {
            let items = try await engine.fetch(FetchRequest(keys, options: ReadOptions(needsOriginal: true))).value
            let found = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
            return NeededItems(items: keys.map { (key: $0, data: found[$0]) })
        } catch let error as StorageError where error.concernsOneCollection {
            // If the reason is not an item, the changes can't be read, either.
            if keys.count == 1 { return NeededItems(unreadable: keys) }
            var all = NeededItems()
            for key in keys {
                let one = try await items([key], of: engine)
                all.items += one.items
                all.unreadable += one.unreadable
            }
            return all
        }
    }

    /// - Returns: The cursor from before the items were read; `nil` without a log.
    private func passAll(
        of collection: String, _ engine: any StorageBackend, isOther: Bool
    ) async throws -> StorageCursor? {
        try await receive(.begin(collection: collection, isWhole: true, isOther: isOther))
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

    // MARK: Receiving

    /// The error of the receiver, which is not one of an engine.
    private struct ReceiverFailure: Error {
        let cause: any Error
    }

    private func receive(_ news: SyncNews) async throws {
        do { try await receiver(news) } catch { throw ReceiverFailure(cause: error) }
    }
}

extension StorageError {
    /// Whether another collection of the same database may be readable nevertheless.
    fileprivate var concernsOneCollection: Bool { isRefusal || [.cannotOpen, .placeRemoved].contains(code) }
}
