import Bodega
import Foundation

extension SyncWork {

    /// Reads what the remote database has, and ends requests that were answered before.
    ///
    /// - Returns: What has become of changes.
    func pull(settling answers: [UUID: SyncAnswer]) async throws -> [SyncOutcome] {
        let place = try await outbox.fetchPlace()
        var places: [String: StorageCursor?] = [:]
        // Until all items of a collection are in the outbox, those that are not would be removed.
        for name in collections.names where place.adopted.contains(name) { places[name] = .some(place.cursors[name]) }
        // The versions that were in the way of a request.
        var needed: [String: [CacheKey]] = [:]
        let settled = place.requests.filter { answers[$0.id] != nil }
        for request in settled where answers[request.id] != .applied {
            for item in request.items { needed[item.collection, default: []].append(item.key) }
        }
        let pull = PullInParts(work: self, since: place)
        try await remote.pull(places, needing: needed) { try await pull.receive($0) }
        return try await pull.finish(settled, answers)
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

/// A pull while it is received.
///
/// What has changed is stored in one transaction, so that a transaction of others is seen as a whole. A snapshot, and
/// very many changes, are stored in parts.
private actor PullInParts {
    private static let maximumItems = 5_000
    private static let partSize = 500

    private let work: SyncWork
    private let start: OutboxStorage.SyncPlace
    /// The number of pulls that must have been stored so far.
    private var pulls: Int
    private var isInParts = false
    private var items: [(item: SyncItemID, data: Data?)] = []
    private var outcomes: [SyncOutcome] = []
    private var cursors: [String: StorageCursor] = [:]
    private var batches: Set<UUID> = []
    /// The keys that the remote database has, while a whole collection is read.
    private var seen: Set<CacheKey>?

    init(work: SyncWork, since start: OutboxStorage.SyncPlace) {
        (self.work, self.start, pulls) = (work, start, start.pulls)
    }

    func receive(_ news: SyncNews) async throws {
        switch news {
        case .begin(_, let isWhole): seen = isWhole ? [] : nil
        case .items(let items, let collection, let batches):
            self.batches.formUnion(batches)
            if seen != nil { for item in items where item.data != nil { seen?.insert(item.key) } }
            try await add(items, of: collection)
        case .unreadable(let keys, _): seen?.formUnion(keys)
        case .end(let collection, let cursor):
            if let seen {
                let missing = try await work.keys(of: collection).filter { !seen.contains($0) }
                try await add(missing.map { ($0, nil) }, of: collection)
            }
            seen = nil
            cursors[collection] = cursor
        }
    }

    private func add(_ news: [(key: CacheKey, data: Data?)], of collection: String) async throws {
        for (key, data) in news { items.append((SyncItemID(collection: collection, key: key), data)) }
        if items.count < (seen == nil ? Self.maximumItems : Self.partSize) { return }
        if !isInParts {
            isInParts = true
            try await store(0)
        }
        while items.count >= Self.partSize { try await store(Self.partSize) }
    }

    /// Stores the first items. The first part only says that a pull in parts has begun.
    private func store(_ count: Int) async throws {
        let part = items.prefix(count)
        let expected = pulls
        if count == 0 { pulls += 1 }
        let result = try await work.transact(
            part.map(\.item), needsPlace: true,
            moving: { [pulls] place in
                try place.check(expected)
                place.pulls = pulls
            }
        ) { draft in
            for (item, data) in part { draft.receive(item, data) }
        }
        outcomes += result.outcomes
        items.removeFirst(part.count)
    }

    /// Stores the rest, the cursors and the outcomes of requests.
    ///
    /// - Returns: What has become of changes.
    func finish(_ settled: [SentRequest], _ answers: [UUID: SyncAnswer]) async throws -> [SyncOutcome] {
        let isUnchanged = items.isEmpty && settled.isEmpty && cursors.allSatisfy { start.cursors[$0] == $1 }
        if isUnchanged, !isInParts { return outcomes }
        let (items, cursors, batches, expected) = (items, cursors, batches, pulls)
        let last = try await work.transact(
            items.map(\.item) + settled.flatMap(\.items), needsPlace: true,
            moving: { place in
                try place.check(expected)
                place.pulls = expected + 1
                place.cursors.merge(cursors) { $1 }
            }
        ) { draft in
            for (item, data) in items { draft.receive(item, data) }
            for request in draft.requests {
                guard var answer = answers[request.id] else { continue }
                // It was applied before, and a repetition came too late to be recognized.
                if batches.contains(StorageOrigin(id: request.id).shared.id) { answer = .applied }
                draft.settle(request.id, answer)
            }
        }
        return outcomes + last.outcomes
    }
}

extension OutboxStorage.SyncPlace {
    /// Checks that no other program has stored a pull.
    fileprivate func check(_ pulls: Int) throws {
        guard self.pulls == pulls else {
            throw StorageError(.locked, "Another program has synchronized the database in the meantime. Retrying…")
        }
    }
}
