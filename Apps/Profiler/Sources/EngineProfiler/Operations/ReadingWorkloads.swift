import Bodega

/// Reads single items.
struct Reading: Workload {
    let engine: any StorageEngine
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let place = share.anyPlace()
        let key = share.key(at: place)
        let (time, data) = try await stopwatch.time(key) { [engine] in try await engine.fetch(key: key) }
        try share.check(data, at: place)
        return time
    }
}

/// Requests missing items.
struct ReadingMissing: Workload {
    let engine: any StorageEngine
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let key = share.data.missingKey(.random(in: .min ... .max, using: &share.generator))
        let (time, data) = try await stopwatch.time(key) { [engine] in try await engine.fetch(key: key) }
        if let data { throw CallFailure(key: key, message: "expected nothing, got \(data.count) bytes") }
        return time
    }
}

/// Reads several items with one call.
struct ReadingBatches: Workload {
    let engine: any StorageEngine
    var share: Share
    let batch: Int

    var itemsPerCall: Int { min(batch, share.count) }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let places = share.anyPlaces(batch)
        let keys = places.map(share.key(at:))
        let (time, found) = try await stopwatch.time { [engine] in try await engine.fetch(keys: keys) }
        guard found.map(\.key) == keys else {
            throw CallFailure(
                key: nil,
                message: "requested \(keys.count) existing items, but the \(found.count) items returned are not those")
        }
        for (place, item) in zip(places, found) { try share.check(item.data, at: place) }
        return time
    }
}

/// Checks that items exist.
struct Existing: Workload {
    let engine: any StorageEngine
    var share: Share

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        let key = share.key(at: share.anyPlace())
        let (time, found) = try await stopwatch.time(key) { [engine] in try await engine.fetchKeys(among: [key]) }
        guard found == [key] else {
            throw CallFailure(key: key, message: "the item exists, but the engine reports that it does not")
        }
        return time
    }
}

/// Reads items and overwrites one in five.
struct Mixed: Workload {
    private var reading: Reading
    private var updating: Updating

    var share: Share { reading.share }

    init(engine: any StorageEngine, share: Share) {
        reading = Reading(engine: engine, share: share)
        updating = Updating(engine: engine, share: share)
    }

    mutating func call(_ stopwatch: Stopwatch) async throws -> UInt64 {
        if Int.random(in: 0..<5, using: &reading.share.generator) == 0 {
            // One share, so that reads know the last write.
            updating.share = reading.share
            let time = try await updating.call(stopwatch)
            reading.share = updating.share
            return time
        }
        return try await reading.call(stopwatch)
    }

    mutating func endRound() async throws {
        try await updating.endRound()
    }
}
