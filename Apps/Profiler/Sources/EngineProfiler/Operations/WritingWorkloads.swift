import Bodega
import Foundation

/// Writes new items, one or several in each call.
struct Writing: Workload {
    let engine: any StorageEngine
    var share: Share
    /// The number of items in each call; `nil` for the method that writes one.
    let batch: Int?
    private var written: [Int] = []

    init(engine: any StorageEngine, share: Share, batch: Int? = nil) {
        self.engine = engine
        self.share = share
        self.batch = batch
    }

    var itemsPerCall: Int { batch ?? 1 }
    var callsPerRound: Int { EngineProfiler.callsPerRound(items: share.data.count, itemsPerCall: itemsPerCall) }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let engine = engine
        let items = (0..<itemsPerCall).map { _ in share.newItem() }
        written += items
        let pairs = items.map { (key: share.data.key($0), data: share.data.value($0, revision: 0)) }
        if batch == nil {
            let (key, data) = pairs[0]
            return try await stopwatch.time(key) { try await engine.write(data, key: key) }.time
        }
        return try await stopwatch.time { try await engine.write(pairs) }.time
    }

    mutating func endRound() async throws {
        guard !written.isEmpty else { return }
        let keys = written.map(share.data.key)
        let found = try await engine.fetch(keys: keys)
        guard found.map(\.key) == keys else {
            throw CallFailure(
                key: keys.first { key in !found.contains { $0.key == key } },
                message: "of \(keys.count) written items, the engine has \(found.count)")
        }
        for (item, pair) in zip(written, found) { try share.data.check(pair.data, item, revision: 0) }
        try await engine.remove(keys: keys)
        written.removeAll(keepingCapacity: true)
    }
}

/// Overwrites items.
struct Updating: Workload {
    let engine: any StorageEngine
    var share: Share
    private var last: Set<Int> = []

    init(engine: any StorageEngine, share: Share) {
        self.engine = engine
        self.share = share
    }

    var callsPerRound: Int { 10_000 }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let place = share.anyPlace()
        let key = share.key(at: place)
        let data = share.nextValue(at: place)
        // Checking all items would take long; later reads check the others.
        if last.count < 100 { last.insert(place) }
        return try await stopwatch.time(key) { [engine] in try await engine.write(data, key: key) }.time
    }

    mutating func endRound() async throws {
        for place in last { try share.check(try await engine.fetch(key: share.key(at: place)), at: place) }
        last.removeAll(keepingCapacity: true)
    }
}

/// Removes items, one or several in each call.
struct Removing: Workload {
    let engine: any StorageEngine
    var share: Share
    /// The number of items in each call; `nil` for the method that removes one.
    let batch: Int?
    private var order: [Int] = []
    private var removed: [Int] = []

    init(engine: any StorageEngine, share: Share, batch: Int? = nil) {
        self.engine = engine
        self.share = share
        self.batch = batch
    }

    var itemsPerCall: Int { min(batch ?? 1, share.count) }
    var callsPerRound: Int {
        // At most as many as there are items.
        min(
            EngineProfiler.callsPerRound(items: share.data.count, itemsPerCall: itemsPerCall),
            share.count / itemsPerCall)
    }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        if order.isEmpty { order = share.anyPlaces(callsPerRound * itemsPerCall) }
        let places = order.suffix(itemsPerCall)
        order.removeLast(places.count)
        removed += places
        let keys = places.map(share.key(at:))
        let engine = engine
        if batch == nil {
            let key = keys[0]
            return try await stopwatch.time(key) { try await engine.remove(key: key) }.time
        }
        return try await stopwatch.time { try await engine.remove(keys: keys) }.time
    }

    mutating func endRound() async throws {
        order.removeAll()
        guard !removed.isEmpty else { return }
        let remaining = try await engine.fetchKeys(among: removed.map(share.key(at:)))
        if let key = remaining.first {
            throw CallFailure(key: key, message: "the item was removed, but is still in the engine")
        }
        try await engine.write(removed.map { (share.key(at: $0), share.value(at: $0)) })
        removed.removeAll(keepingCapacity: true)
    }
}
