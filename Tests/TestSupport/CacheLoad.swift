package import Bodega
package import Foundation

/// Operations that would fill the memory of a cache without a limit.
package enum CacheLoad: String, CaseIterable, Sendable {
    case writtenAndRemoved, empty, longKeys, readOnce, batches, onlyCount, unlimited

    /// The limit in bytes.
    package static let limit = 1 << 20

    /// An engine with a cache.
    package func makeEngine() -> CachedStorageEngine {
        switch self {
        case .onlyCount: EndlessEngine().cached(count: 1_000, bytes: nil)
        case .unlimited: EndlessEngine().cached(bytes: nil)
        default: EndlessEngine().cached(bytes: Self.limit)
        }
    }

    /// Performs about ``TestSizes/cacheOperations``.
    ///
    /// - Parameter performed: Called after some of them.
    package func run(on engine: some StorageEngine, _ performed: () -> Void = {}) async throws {
        for number in 0..<(self == .batches ? TestSizes.cacheOperations / 1_000 : TestSizes.cacheOperations / 2) {
            let key = CacheKey(verbatim: "\(number)")
            switch self {
            case .writtenAndRemoved, .onlyCount, .unlimited:
                try await engine.write(Data(count: 10), key: key)
                try await engine.remove(key: key)
            case .empty:
                try await engine.write(Data(), key: key)
                try await engine.write(Data(), key: key)
            case .longKeys:
                // The engine reads and writes an item under each key of 2,000 bytes.
                if number % 10 > 0 { continue }
                let key = CacheKey(verbatim: "\(number)" + String(repeating: "k", count: 2_000))
                for _ in 0..<10 { _ = try await engine.fetch(key: key) }
                try await engine.remove(key: key)
            case .readOnce:
                for other in [key, CacheKey(verbatim: "\(-number)")] { _ = try await engine.fetch(key: other) }
            case .batches:
                let keys = (0..<500).map { CacheKey(verbatim: "\(number) \($0)") }
                try await engine.write(keys.map { ($0, Data(count: 20)) })
                try await engine.remove(keys: keys)
            }
            performed()
        }
    }

    /// Reads many small items once.
    package static func readSmallItems(of engine: some StorageEngine) async throws {
        for number in 0..<400_000 { _ = try await engine.fetch(key: CacheKey(verbatim: "key of item \(number)")) }
    }
}

/// Has a small item under each key, and keeps nothing.
package struct EndlessEngine: ThrowingStorageEngine {
    package init() {}
    package func fetch(key: CacheKey) async throws -> Data? { Data(count: 10) }
    package func fetchAll() async throws -> [(key: CacheKey, data: Data)] { [] }
    package func fetchKeys() async throws -> [CacheKey] { [] }
    package func fetchDates(key: CacheKey) async throws -> StorageDates? { nil }
    package func apply(_ operations: [StorageOperation]) async throws {}
}
