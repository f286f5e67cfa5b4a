import Bodega

/// Reads all items.
struct ReadingAll: Workload {
    let engine: any StorageEngine
    var share: Share
    private var isFirst = true

    init(engine: any StorageEngine, share: Share) {
        self.engine = engine
        self.share = share
    }

    var itemsPerCall: Int { share.data.count }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let (time, found) = try await stopwatch.time { [engine] in try await engine.fetchAll() }
        try expect(found.count, of: share.data.count)
        if isFirst {
            try expect(Set(found.map(\.key)).count, of: share.data.count)
            for (key, data) in found { try share.check(data, of: key) }
            isFirst = false
        } else {
            // All items have been compared once; comparing them each time would take longer than reading them.
            for _ in 0..<100 {
                let (key, data) = found[Int.random(in: 0..<found.count, using: &share.generator)]
                try share.check(data, of: key)
            }
        }
        return time
    }
}

/// Lists all keys.
struct ListingKeys: Workload {
    let engine: any StorageEngine
    var share: Share
    private var isFirst = true

    init(engine: any StorageEngine, share: Share) {
        self.engine = engine
        self.share = share
    }

    var itemsPerCall: Int { share.data.count }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let (time, found) = try await stopwatch.time { [engine] in try await engine.fetchKeys() }
        try expect(found.count, of: share.data.count)
        if isFirst {
            try expect(Set(found).count, of: share.data.count)
            let wrong = found.first { key in share.data.item(key).map { $0 >= share.data.count } ?? true }
            if let wrong { throw CallFailure(key: wrong, message: "the engine returned a key that was never written") }
            isFirst = false
        }
        return time
    }
}

/// Counts the items.
struct Counting: Workload {
    let engine: any StorageEngine
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let (time, found) = try await stopwatch.time { [engine] in try await engine.fetchCount() }
        try expect(found, of: share.data.count)
        return time
    }
}

/// Checks the number of items.
func expect(_ found: Int, of expected: Int) throws {
    if found != expected { throw CallFailure(key: nil, message: "expected \(expected) items, got \(found)") }
}
