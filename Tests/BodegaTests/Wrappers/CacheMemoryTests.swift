import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// That the limit of a cache is one of memory.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CacheMemoryTests {
    private static let limit = 1 << 20

    /// What is written and removed, or only read.
    enum Load: String, CaseIterable {
        case writtenAndRemoved, empty, longKeys, readOnce, batches, onlyCount, unlimited
    }

    @Test(arguments: Load.allCases) func `A cache stays within its limit after 300,000 operations`(
        _ load: Load
    ) async throws {
        let engine =
            switch load {
            case .onlyCount: EndlessEngine().cached(count: 1_000, bytes: nil)
            case .unlimited: EndlessEngine().cached(bytes: nil)
            default: EndlessEngine().cached(bytes: Self.limit)
            }
        let before = try residentKilobytes()
        var largest = StorageSize()
        for number in 0..<(load == .batches ? 300 : 150_000) {
            let key = CacheKey(verbatim: "\(number)")
            switch load {
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
            let size = engine.cache.heldSize
            (largest.count, largest.bytes) = (max(largest.count, size.count), max(largest.bytes, size.bytes))
        }
        switch load {
        case .onlyCount: #expect(largest.count <= 1_000)
        case .unlimited: #expect(largest.count <= 3_000)
        default: #expect(largest.bytes <= Self.limit)
        }
        // What the process takes is measured by the system. The allocator keeps a multiple of the limit at most.
        let grown = try residentKilobytes() - before
        #expect(grown < 8 << 10, "\(load): \(grown) KiB")
    }

    /// The constant that stands for bookkeeping, measured by the system: many small items, of each kind of bookkeeping.
    @Test func `Small items take about the memory that they count for`() async throws {
        let limit = 32 << 20
        let engine = EndlessEngine().cached(bytes: limit)
        let before = try residentKilobytes()
        for number in 0..<400_000 { _ = try await engine.fetch(key: CacheKey(verbatim: "key of item \(number)")) }
        let taken = try residentKilobytes() - before
        let held = engine.cache.heldSize
        #expect(held.bytes <= limit && held.bytes > limit * 9 / 10)
        print("a cache of \(held.count) small items and \(limit >> 10) KiB takes \(taken) KiB")
        #expect(taken < (limit >> 10) * 3 / 2, "\(taken) KiB for \(held.count) items")
    }

    /// The memory of the process in KiB; 0 where the system has no such file.
    private func residentKilobytes() throws -> Int {
        let file = URL(fileURLWithPath: "/proc/self/status")
        guard FileManager.default.fileExists(atPath: file.path) else { return 0 }
        let lines = try String(decoding: Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }
}

/// Has a small item under each key, and keeps nothing.
private struct EndlessEngine: ThrowingStorageEngine {
    func fetch(key: CacheKey) async throws -> Data? { Data(count: 10) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { [] }
    func fetchKeys() async throws -> [CacheKey] { [] }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { nil }
    func apply(_ operations: [StorageOperation]) async throws {}
}
