import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// How many bytes the calls that look at all items read at a time.
@Suite struct PartSizeTests {
    private static let mebibyte = 1 << 20

    /// The sizes of the items in order.
    enum Sizes: String, CaseIterable {
        case large, small, mixed

        var all: [Int] {
            switch self {
            case .large: Array(repeating: PartSizeTests.mebibyte, count: 40)
            case .small: Array(repeating: 20, count: 3_000)
            case .mixed: (0..<600).map { $0 % 100 == 99 ? PartSizeTests.mebibyte : 1_000 }
            }
        }
    }

    private func fill(_ engine: some StorageEngine, _ sizes: [Int]) async throws -> [CacheKey] {
        let keys = sizes.indices.map { CacheKey(verbatim: "\($0)") }
        for (key, size) in zip(keys, sizes) { try await engine.write(Data(count: size), key: key) }
        return keys
    }

    @Test(arguments: Sizes.allCases, [true, false])
    func `An expiring engine looks at its items a mebibyte at a time`(_ sizes: Sizes, _ hasScans: Bool) async throws {
        let memory = MemoryStorageEngine()
        let largest = Locked(0)
        func check(_ engine: ExpiringStorageEngine) async throws {
            let keys = try await fill(engine, sizes.all)
            largest.withLock { $0 = 0 }
            #expect(try await engine.fetchKeys() == keys)
            #expect(try await engine.fetchCount() == keys.count)
            #expect(try await engine.fetchAllDates().map(\.key) == keys)
            #expect(try await engine.fetchKeys(among: keys) == keys)
            #expect(try await engine.removeExpired() == 0)
            let limited = memory.expiring(after: .seconds(-1))
            _ = try await limited.write(Data(), key: keys[0])
            #expect(try await engine.removeExpired() == 1)
            #expect(try await engine.fetchKeys() == Array(keys.dropFirst()))
        }
        if hasScans {
            try await check(Weighing(base: memory, largest: largest).expiring(after: .seconds(60)))
        } else {
            try await check(WeighingWithoutScans(base: memory, largest: largest).expiring(after: .seconds(60)))
        }
        // A scan ends with the item that fills a part. Without scans, large items can follow small ones.
        #expect(largest.withLock { $0 } <= (sizes == .mixed ? 4 : 3) * Self.mebibyte)
    }

    @Test(arguments: Sizes.allCases) func `Limits, mirrors and rotations read a mebibyte at a time`(
        _ sizes: Sizes
    ) async throws {
        let (memory, largest) = (MemoryStorageEngine(), Locked(0))
        let weighing = WeighingWithoutScans(base: memory, largest: largest)
        let keys = try await fill(weighing, sizes.all)
        func expectSmallParts(_ comment: Comment) {
            #expect(largest.withLock { $0 } <= 4 * Self.mebibyte, comment)
            largest.withLock { $0 = 0 }
        }
        #expect(try await weighing.limited(count: 5_000).fetchCount() == keys.count)
        expectSmallParts("limits")
        #expect(try await weighing.mirrored(to: MemoryStorageEngine()).repair() == keys.count)
        expectSmallParts("mirrors")
        try await memory.removeAllData()
        var keyset = EncryptionKeyset()
        let encrypted = weighing.encrypted(with: keyset)
        _ = try await fill(encrypted, sizes.all)
        try keyset.makePrimary(keyset.addKey())
        encrypted.use(keyset)
        #expect(try await encrypted.reencrypt().count == keys.count)
        expectSmallParts("rotations")
    }
}

/// Records the largest number of bytes that one call returns, or that a scan passes on.
private struct Weighing: ForwardingStorageEngine {
    let base: any StorageBackend
    let largest: Locked<Int>

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let value = try await body()
        // A scan passes on one item after the other.
        if call.operation != .scan { largest.withLock { $0 = max($0, value.value.byteCount) } }
        return value
    }
}

/// The same without scans.
private struct WeighingWithoutScans: ForwardingStorageEngine {
    let base: any StorageBackend
    let largest: Locked<Int>

    var traits: StorageTraits { base.traits.subtracting(.stablePositions) }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await scanByKeys(request, begin)
    }

    func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }

    func fetchCount() async throws -> Int { try await base.fetchCount() }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let value = try await body()
        // A scan passes on one item after the other.
        if call.operation != .scan { largest.withLock { $0 = max($0, value.value.byteCount) } }
        return value
    }
}
