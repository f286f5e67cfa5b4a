import Bodega
import Foundation

extension SyncWork {

    /// Reads what the remote database has, and ends requests that were answered before.
    ///
    /// - Returns: Why a collection could not be read, and why an item could not; `nil` if all could.
    func pull(
        settling answers: [UUID: SyncAnswer]
    ) async throws -> (missing: (any Error)?, unreadable: StorageError?) {
        let place = try await outbox.fetchPlace()
        var places: [String: StorageCursor?] = [:]
        // Until all items of a collection are in the outbox, those that are not would be removed.
        for name in collections.names where place.hasAdopted(name) { places[name] = .some(place.cursor(of: name)) }
        // The versions that were in the way of a request.
        var needed: [String: [CacheKey]] = [:]
        for request in place.requests {
            guard let answer = answers[request.id], answer != .applied else { continue }
            for item in request.items { needed[item.collection, default: []].append(item.key) }
        }
        let pull = PullInParts(work: self, pulls: place.pulls)
        try await remote.pull(places, needing: needed) { try await pull.receive($0) }
        let missing = try await pull.finish(answers)
        collections.setMissing(missing.keys)
        let denied = collections.reportDenied()
        return (missing.min { $0.key < $1.key }?.value ?? denied, await pull.unreadable)
    }

    /// Writes all items of a collection to the outbox that was not synchronized before.
    ///
    /// A collection that was, and that has neither items nor changes, may have been removed by a program that does not
    /// synchronize. It is read as if for the first time.
    func adopt(_ name: String) async throws {
        let engine = try collections.engine(name)
        let place = try await outbox.fetchPlace()
        if place.hasAdopted(name) {
            guard place.cursor(of: name) != nil, try await engine.isEmpty, try await !hasChanges(of: name) else {
                return
            }
            try await transact(
                [], needsPlace: true,
                moving: { place in
                    place.move(name, to: nil)
                    // One that has begun before would move it again.
                    place.pulls += 1
                }
            ) { _ in }
            return
        }
        // What others write from now on without the outbox is refused, see `LocalOutbox.checkingWrites`.
        if !place.notesChanges(of: name) {
            try await transact([], needsPlace: true, moving: { place in place.beginToAdopt(name) }) { _ in }
        }
        try await engine.readParts { part in
            let items = part.value.map { SyncItemID(collection: name, key: $0.key) }
            try await transact(items) { draft in draft.adopt(items) }
        }
        try await transact([], needsPlace: true, moving: { place in place.adopt(name) }) { _ in }
    }

    private func hasChanges(of name: String) async throws -> Bool {
        let isFound = Locked(false)
        try await outbox.scan { item, _ in
            guard item.collection.hasSameBytes(as: name) else { return true }
            isFound.withLock { $0 = true }
            return false
        }
        return isFound.withLock { $0 }
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
    /// The number of pulls that must have been stored so far.
    private var pulls: Int
    private var isInParts = false
    private var items: [(item: SyncItemID, data: Data?, isOther: Bool)] = []
    /// Whether the collection that is read is another one than before.
    private var isOther = false
    /// Whether any was.
    private var hasOther = false
    private var cursors: [String: StorageCursor?] = [:]
    private var batches: Set<UUID> = []
    /// The keys that the remote database has, while a whole collection is read.
    private var seen: Set<CacheKey>?
    /// The collections that can't be read.
    private var missing: [String: any Error] = [:]
    /// The items that can't be read.
    private var unreadableItems: Set<SyncItemID> = []
    /// The error for one of them.
    private(set) var unreadable: StorageError?

    init(work: SyncWork, pulls: Int) { (self.work, self.pulls) = (work, pulls) }

    func receive(_ news: SyncNews) async throws {
        switch news {
        case .begin(_, let isWhole, let isOther):
            seen = isWhole ? [] : nil
            self.isOther = isOther
            if isOther { hasOther = true }
        case .items(let items, let collection, let batches):
            self.batches.formUnion(batches)
            if seen != nil { for item in items where item.data != nil { seen?.insert(item.key) } }
            try await add(items, of: collection)
        case .unreadable(let keys, let collection):
            seen?.formUnion(keys)
            unreadableItems.formUnion(keys.map { SyncItemID(collection: collection, key: $0) })
            unreadable = StorageError(
                .decodingFailed, "An item of the remote database's collection \"\(collection)\" can't be read.",
                key: keys.first)
        case .end(let collection, let cursor):
            if let seen {
                let missing = try await work.keys(of: collection).filter { !seen.contains($0) }
                try await add(missing.map { ($0, nil) }, of: collection)
            }
            seen = nil
            cursors[collection] = .some(cursor)
        case .missing(let collection, let error):
            seen = nil
            cursors[collection] = nil
            missing[collection] = error
        }
    }

    private func add(_ news: [(key: CacheKey, data: Data?)], of collection: String) async throws {
        for (key, data) in news { items.append((SyncItemID(collection: collection, key: key), data, isOther)) }
        if items.count < (seen == nil ? Self.maximumItems : Self.partSize) { return }
        if !isInParts {
            isInParts = true
            try await store([])
        }
        var count = 0
        while items.count - count >= Self.partSize {
            try await store(items[count..<(count + Self.partSize)])
            count += Self.partSize
        }
        items.removeFirst(count)
    }

    /// Stores a part. The first one only says that a pull in parts has begun.
    private func store(_ part: ArraySlice<(item: SyncItemID, data: Data?, isOther: Bool)>) async throws {
        let expected = pulls
        // A pull that has begun before does not know what this part brings.
        pulls += 1
        try await work.transact(
            part.map(\.item), needsPlace: true,
            moving: { [pulls] place in
                try place.check(expected)
                place.pulls = pulls
            }
        ) { draft in
            for (item, data, isOther) in part { draft.receive(item, data, fromOther: isOther) }
        }
    }

    /// Stores the rest, the cursors and the outcomes of requests.
    ///
    /// - Returns: The collections that can't be read.
    func finish(_ answers: [UUID: SyncAnswer]) async throws -> [String: any Error] {
        var attempts = ConditionalAttempts()
        while true {
            let place = try await work.outbox.fetchPlace()
            // Those that the log shows were applied, whether their answers have come or not, and also if they were sent
            // after this pull had begun: a later one does not find them.
            var answers = answers
            for request in place.requests where batches.contains(StorageOrigin(id: request.id).shared.id) {
                answers[request.id] = .applied
            }
            let settled = place.requests.filter { answers[$0.id] != nil }
            let isUnchanged =
                items.isEmpty && settled.isEmpty
                && cursors.allSatisfy { place.hasPulled($0) && place.cursor(of: $0) == $1 }
            if isUnchanged, !isInParts { return missing }
            do {
                try await store(settled, answers, place)
                if hasOther { work.state.countReplacement() }
                return missing
            } catch is RequestsHaveChanged {
                try attempts.fail(nil)
            }
        }
    }

    private func store(
        _ settled: [SentRequest], _ answers: [UUID: SyncAnswer], _ known: OutboxStorage.SyncPlace
    ) async throws {
        let (items, cursors, expected) = (items, cursors, pulls)
        let isOpen: (String) -> Bool = { [missing] in cursors[$0] != nil || missing[$0] != nil }
        // Also those of collections that were not open when the pull began.
        let isMissing: (SyncItemID) -> Bool = { [unreadableItems] item in
            cursors[item.collection] == nil || unreadableItems.contains(item)
        }
        try await work.transact(
            items.map(\.item) + settled.flatMap(\.items), needsPlace: true,
            moving: { place in
                try place.check(expected)
                if place.requests != known.requests { throw RequestsHaveChanged() }
                place.pulls = expected + 1
                for (collection, cursor) in cursors { place.move(collection, to: cursor) }
            }
        ) { draft in
            for (item, data, isOther) in items { draft.receive(item, data, fromOther: isOther) }
            for request in settled {
                guard let answer = answers[request.id] else { continue }
                if answer == .applied { draft.receiveSent(by: request.id, where: isMissing) }
                draft.settle(request.id, answer, where: isOpen)
            }
        }
    }

    /// A request has begun while the end of a pull was stored.
    private struct RequestsHaveChanged: Error {}
}

extension OutboxStorage.SyncPlace {
    /// Checks that no other program has stored a pull, or a part of one.
    fileprivate func check(_ pulls: Int) throws {
        guard self.pulls == pulls else { throw PullOvertaken() }
    }
}

/// Another program has stored what it has read from the remote database.
struct PullOvertaken: Error {}

extension StorageBackend {
    fileprivate var isEmpty: Bool {
        get async throws {
            let isEmpty = Locked(true)
            let request = ScanRequest(fields: [], options: ReadOptions(needsOriginal: true), isShort: true)
            _ = try await scan(request) {
                { _, _ in
                    isEmpty.withLock { $0 = false }
                    return false
                }
            }
            return isEmpty.withLock { $0 }
        }
    }
}
