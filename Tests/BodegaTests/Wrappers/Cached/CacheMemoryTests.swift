import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// That the limit of a cache is one of memory. The memory is that of a process which does nothing else.
@Suite(.serialized) struct CacheMemoryTests {

    @Test(arguments: CacheLoad.allCases) func `A cache stays within its limit after any number of operations`(
        _ load: CacheLoad
    ) async throws {
        let engine = load.makeEngine()
        var largest = StorageSize()
        try await load.run(on: engine) {
            let size = engine.cache.heldSize
            (largest.count, largest.bytes) = (max(largest.count, size.count), max(largest.bytes, size.bytes))
        }
        switch load {
        case .onlyCount: #expect(largest.count <= 1_000)
        case .unlimited: #expect(largest.count <= 3_000)
        default: #expect(largest.bytes <= CacheLoad.limit)
        }
        #expect(largest.count > 0)
    }

    @Test(.enabled(if: hasProc), arguments: CacheLoad.allCases)
    func `A process takes little memory for a cache after any number of operations`(_ load: CacheLoad) async throws {
        // The allocator keeps a multiple of the limit at most.
        let taken = try await growth(load.rawValue)
        #expect(taken < 8 << 20, "\(taken) bytes")
    }

    /// The constant that stands for bookkeeping, measured by the system: many small items, of each kind of bookkeeping.
    @Test(.enabled(if: hasProc)) func `Small items take about the memory that they count for`() async throws {
        let limit = 32 << 20
        let engine = EndlessEngine().cached(bytes: limit)
        try await CacheLoad.readSmallItems(of: engine)
        let held = engine.cache.heldSize
        #expect(held.bytes <= limit && held.bytes > limit * 9 / 10)
        let taken = try await growth("small", "\(limit)")
        #expect(taken < limit * 3 / 2, "\(taken) bytes for \(held.count) items")
    }

    /// How many bytes of memory another process takes for a cache.
    private func growth(_ arguments: String...) async throws -> Int {
        let lines = try await Child(["fill-cache"] + arguments).lines()
        return try #require(lines.first.flatMap { Int($0) })
    }
}

private let hasProc = FileManager.default.fileExists(atPath: "/proc/self/status")
