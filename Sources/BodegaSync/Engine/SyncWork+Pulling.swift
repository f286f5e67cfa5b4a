import Bodega
import Foundation

extension SyncWork {

    /// Reads what the remote database has, and ends requests that were answered before.
    ///
    /// - Returns: What has become of changes.
    func pull(settling answers: [UUID: SyncAnswer]) async throws -> [SyncOutcome] {
        let place = try await outbox.fetchPlace()
        var places: [String: StorageCursor?] = [:]
        for name in collections.names { places[name] = .some(place.cursors[name]) }
        // The versions that were in the way of a request.
        var needed: [String: [CacheKey]] = [:]
        let settled = place.requests.filter { answers[$0.id] != nil }
        for request in settled where answers[request.id] != .applied {
            for item in request.items { needed[item.collection, default: []].append(item.key) }
        }
        let pull = PullInParts(work: self)
        try await remote.pull(places, needing: needed) { try await pull.receive($0) }
        var (outcomes, cursors, batches) = await pull.finished
        let last = try await transact(
            settled.flatMap(\.items), needsPlace: true, moving: { $0.cursors.merge(cursors) { $1 } }
        ) { draft in
            for request in draft.requests {
                guard var answer = answers[request.id] else { continue }
                // It was applied before, and a repetition came too late to be recognized.
                if batches.contains(StorageOrigin(id: request.id).shared.id) { answer = .applied }
                draft.settle(request.id, answer)
            }
        }
        outcomes += last.outcomes
        return outcomes
    }

    /// Writes all items of a collection to the outbox that was not synchronized before.
    func adopt(_ name: String) async throws {
        if try await outbox.fetchPlace().adopted.contains(name) { return }
        let engine = try collections.engine(name)
        try await engine.readParts { part in
            let items = part.value.map { SyncItemID(collection: name, key: $0.key) }
            try await transact(items) { draft in draft.adopt(items) }
        }
        try await transact([], needsPlace: true, moving: { place in place.adopted.insert(name) }) { _ in }
    }

    /// Takes over versions of items.
    fileprivate func receive(_ news: [(key: CacheKey, data: Data?)], of name: String) async throws -> [SyncOutcome] {
        var outcomes: [SyncOutcome] = []
        for start in stride(from: 0, to: news.count, by: 500) {
            let part = news[start..<min(start + 500, news.count)]
            let items = part.map { SyncItemID(collection: name, key: $0.key) }
            outcomes += try await transact(items) { draft in
                for (item, news) in zip(items, part) { draft.receive(item, news.data) }
            }.outcomes
        }
        return outcomes
    }

    /// The keys of a collection's items, those in the outbox included.
    fileprivate func keys(of name: String) async throws -> [CacheKey] {
        let keys = Locked(Set(try await collections.engine(name).fetchKeys()))
        try await outbox.scan { item, _ in
            if item.collection == name { _ = keys.withLock { $0.insert(item.key) } }
            return true
        }
        return keys.withLock { Array($0) }
    }
}

/// A pull that is received in parts.
private actor PullInParts {
    private let work: SyncWork
    private var outcomes: [SyncOutcome] = []
    private var cursors: [String: StorageCursor] = [:]
    private var batches: Set<UUID> = []
    /// The keys that the remote database has, while a whole collection is read.
    private var seen: Set<CacheKey>?

    init(work: SyncWork) { self.work = work }

    var finished: (outcomes: [SyncOutcome], cursors: [String: StorageCursor], batches: Set<UUID>) {
        (outcomes, cursors, batches)
    }

    func receive(_ news: SyncNews) async throws {
        switch news {
        case .begin(_, let isWhole): seen = isWhole ? [] : nil
        case .items(let items, let collection, let batches):
            self.batches.formUnion(batches)
            if seen != nil { for item in items where item.data != nil { seen?.insert(item.key) } }
            outcomes += try await work.receive(items, of: collection)
        case .unreadable(let keys, _): seen?.formUnion(keys)
        case .end(let collection, let cursor):
            if let seen {
                let missing = try await work.keys(of: collection).filter { !seen.contains($0) }
                outcomes += try await work.receive(missing.map { ($0, nil) }, of: collection)
            }
            seen = nil
            cursors[collection] = cursor
        }
    }
}
