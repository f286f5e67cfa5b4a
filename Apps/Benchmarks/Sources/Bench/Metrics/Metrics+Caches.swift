import BenchHarness
import Bodega
import Foundation

extension Metrics {
    static let caches = [
        Metric("cache.read", baseline: "a look-up in a dictionary with a lock", maximum: 2.2) { plan in
            try await readCached(plan)
        },
        Metric("cache.hits.zipf0.8", baseline: "LRU", maximum: 1) { try await hits($0, zipf(0.8), { $0.hitsOfLRU }) },
        Metric("cache.hits.zipf0.99", baseline: "LRU", maximum: 1) { try await hits($0, zipf(0.99), { $0.hitsOfLRU }) },
        Metric("cache.hits.zipf1.1", baseline: "LRU", maximum: 1) { try await hits($0, zipf(1.1), { $0.hitsOfLRU }) },
        Metric("cache.hits.drift", baseline: "LRU", maximum: 1) { plan in
            try await hits(plan, .drift(reads: plan.size(400_000)), capacity: 1_000, { $0.hitsOfLRU })
        },
        Metric("cache.hits.files", baseline: "LRU", maximum: 1) { plan in
            try await hits(plan, .compilerFiles(), capacity: 700, { $0.hitsOfLRU })
        },
        Metric("cache.hits.files.small", baseline: "LRU", maximum: 1) { plan in
            try await hits(plan, .compilerFiles(), capacity: 140, { $0.hitsOfLRU })
        },
        Metric("cache.hits.optimum", baseline: "the optimum (Bélády), Zipf 0.99", maximum: 1 / 0.9) { plan in
            try await hits(plan, zipf(0.99), { $0.hitsOfOptimum })
        },
        Metric("cache.hits.scan", baseline: "the hot hits without a scan", maximum: 1 / 0.9) { plan in
            try await hotHits(plan)
        },
    ]

    /// Reads of 100,000 keys, a tenth of which fits into the cache of ``hits(_:_:capacity:_:)``.
    private static func zipf(_ exponent: Double) -> CacheTrace { .zipf(exponent, keys: 100_000, reads: 400_000) }

    private static func key(_ number: Int) -> CacheKey { CacheKey("items/\(number)") }

    /// Reads all keys of a trace, and returns the number of hits.
    private static func hits(of keys: some Sequence<Int>, in engine: CachedStorageEngine) async throws
        -> Int
    {
        let before = engine.statistics.hitCount
        for number in keys where try await engine.fetch(key: key(number)) == nil { throw CancellationError() }
        return engine.statistics.hitCount - before
    }

    private static func hits(
        _ plan: Plan, _ trace: CacheTrace, capacity: Int = 10_000, _ baseline: (CacheTrace) -> (Int) -> Int
    ) async throws -> Outcome {
        let engine = UniformEngine().cached(count: capacity)
        return Outcome(
            items: trace.keys.count, oursHits: try await hits(of: trace.keys, in: engine),
            baselineHits: baseline(trace)(capacity))
    }

    /// Counts the hits of frequent keys with and without a scan of ten times the capacity between them.
    private static func hotHits(_ plan: Plan) async throws -> Outcome {
        let (capacity, hot) = (2_000, zipf(0.99).keys.map { $0 % 20_000 })
        let (first, second) = (hot[..<(hot.count / 2)], hot[(hot.count / 2)...])
        let (scanned, other) = (UniformEngine().cached(count: capacity), UniformEngine().cached(count: capacity))
        for engine in [scanned, other] { _ = try await hits(of: first, in: engine) }
        _ = try await hits(of: 1_000_000..<(1_000_000 + 10 * capacity), in: scanned)
        // The reads right after the scan.
        let after = second.prefix(10 * capacity)
        return Outcome(
            items: after.count, oursHits: try await hits(of: after, in: scanned),
            baselineHits: try await hits(of: after, in: other))
    }

    private static func readCached(_ plan: Plan) async throws -> Outcome {
        let items = Items.make(plan.size(100_000))
        let engine = UniformEngine().cached(bytes: nil)
        for item in items { try await engine.write(item.data, key: item.key) }
        let dictionary = LockedDictionary(items)
        return try await compare(
            items: items.count,
            runs: plan.runs,
            ours: {
                let (time, count) = try await timed {
                    var count = 0
                    for item in items { count += try await engine.fetch(key: item.key)?.count ?? 0 }
                    return count
                }
                try verify(count, equals: items.reduce(0) { $0 + $1.data.count }, "bytes read")
                return time
            },
            baseline: {
                let (time, count) = timed {
                    var count = 0
                    for item in items { count += dictionary[item.key]?.count ?? 0 }
                    return count
                }
                try verify(count, equals: items.reduce(0) { $0 + $1.data.count }, "bytes read")
                return time
            }
        )
    }
}

/// An engine with the same item under each key.
private struct UniformEngine: ThrowingStorageEngine {
    func fetch(key: CacheKey) async throws -> Data? { Data([1]) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { [] }
    func fetchKeys() async throws -> [CacheKey] { [] }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { nil }
    func apply(_ operations: [StorageOperation]) async throws {}
}

/// A dictionary with a lock.
private final class LockedDictionary: @unchecked Sendable {
    // @unchecked because every access holds `lock`.
    private let lock = NSLock()
    private var items: [CacheKey: Data]

    init(_ items: [(key: CacheKey, data: Data)]) {
        self.items = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
    }

    subscript(key: CacheKey) -> Data? {
        lock.lock()
        defer { lock.unlock() }
        return items[key]
    }
}
