import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// When items expire.
@Suite struct ExpiryTests {
    private let base = MemoryStorageEngine()
    private let clock = ManualClock(startingAt: Date(timeIntervalSince1970: 1_000_000))
    private let key = CacheKey(verbatim: "a")
    private let other = CacheKey(verbatim: "b")
    private let value = Data("value".utf8)

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    private func expiring(after seconds: Double) -> ExpiringStorageEngine {
        base.expiring(after: .seconds(seconds)) { [clock] in clock.now() }
    }

    @Test func `No method returns an item that has expired`() async throws {
        let engine = expiring(after: 10)
        try await engine.write(value, key: key)
        clock.advance(by: 5)
        try await engine.write(value, key: other)
        clock.advance(by: 4.9)
        #expect(try await engine.fetchKeys() == [key, other])
        clock.advance(by: 0.1)
        #expect(try await engine.fetch(key: key) == nil)
        #expect(try await engine.fetch(keys: [key, other]).map(\.key) == [other])
        #expect(try await engine.fetchAll().map(\.key) == [other])
        #expect(try await engine.fetchAllData() == [value])
        #expect(try await engine.fetchKeys() == [other])
        #expect(try await engine.fetchKeys(among: [key, other]) == [other])
        #expect(try await engine.fetchCount() == 1)
        #expect(try await engine.fetchDates(key: key) == nil)
        #expect(try await engine.fetchDates(key: other) != nil)
        #expect(try await engine.fetchItems(keys: [key, other]).map(\.key) == [other])
        #expect(try await engine.fetchAllDates().map(\.key) == [other])
        #expect(try await engine.fetchSnapshot().items.map(\.key) == [other])
        #expect(await engine.read(key: key) == nil)
        #expect(await engine.keyExists(key) == false)
        #expect(try await base.fetchCount() == 2)
    }

    @Test func `Expired items of a folder can be removed, and the others stay`() async throws {
        let folder = TemporaryFolder()
        let engine = try DiskStorageEngine(opening: folder.directory, now: clock.now).expiring(
            after: .seconds(10), now: clock.now)
        try await engine.write((0..<600).map { (CacheKey(verbatim: "old \($0)"), value) })
        clock.advance(by: 10)
        try await engine.write(value, key: key)
        try await engine.write(value, key: CacheKey(verbatim: "old 0"))
        #expect(try folder.names().count { !$0.hasPrefix(".") } == 601)
        #expect(try await engine.removeExpired() == 599)
        #expect(try folder.names().filter { !$0.hasPrefix(".") } == ["a", "old 0"])
        #expect(try await engine.fetchKeys() == [CacheKey(verbatim: "old 0"), key])
    }

    @Test func `The calls of the base do not depend on the number of items`() async throws {
        for count in [10, 3_000] {
            let recorder = RecordingStorageEngine(MemoryStorageEngine())
            let engine = recorder.expiring(after: .seconds(10))
            try await engine.write((0..<count).map { (CacheKey("\($0)"), value) })
            recorder.clearCalls()
            try await engine.write(value, key: key)
            try await engine.apply([.remove(key: key), .write(key: other, data: value)])
            try await engine.remove(key: other)
            _ = try await engine.fetch(key: CacheKey("6"))
            _ = try await engine.fetchKeys(among: [CacheKey("6"), CacheKey("7")])
            try await engine.removeAllData()
            #expect(
                recorder.calls.map { "\($0.operation) of \($0.keys.count)" } == [
                    "apply of 1", "apply of 2", "apply of 1", "fetch of 1", "fetch of 2", "apply of 0",
                ])
        }
    }

    @Test func `Each write begins a new period`() async throws {
        let engine = expiring(after: 10)
        try await engine.write(value, key: key)
        clock.advance(by: 9)
        try await engine.write(value, key: key)
        clock.advance(by: 9)
        #expect(try await engine.fetch(key: key) == value)
        clock.advance(by: 1)
        #expect(try await engine.fetch(key: key) == nil)
    }

    @Test func `An item can have a period of its own, or none`() async throws {
        let engine = expiring(after: 10)
        try await engine.write(value, key: key, expiringAfter: .seconds(1))
        try await engine.write(value, key: other, expiringAfter: nil)
        clock.advance(by: 1)
        #expect(try await engine.fetchKeys() == [other])
        clock.advance(by: 1e12)
        #expect(try await engine.fetchKeys() == [other])
    }

    @Test(arguments: [0, -1, -1e15, -1e17])
    func `A period of zero or less has passed already`(_ seconds: Double) async throws {
        let engine = expiring(after: seconds)
        try await engine.write(value, key: key)
        #expect(try await engine.fetch(key: key) == nil)
    }

    @Test(arguments: [1e15, 1e17]) func `A period beyond all dates never passes`(_ seconds: Double) async throws {
        let engine = expiring(after: seconds)
        try await engine.write(value, key: key)
        clock.advance(by: 1e13)
        #expect(try await engine.fetch(key: key) == value)
    }

    @Test func `An item keeps its expiry when the engine is opened again with another period`() async throws {
        let folder = TemporaryFolder()
        do {
            let engine = try SQLiteStorageEngine(opening: folder.directory).expiring(after: .seconds(10)) { [clock] in
                clock.now()
            }
            try await engine.write(value, key: key)
        }
        let engine = try SQLiteStorageEngine(opening: folder.directory).expiring(after: .seconds(99)) { [clock] in
            clock.now()
        }
        clock.advance(by: 9)
        #expect(try await engine.fetch(key: key) == value)
        clock.advance(by: 1)
        #expect(try await engine.fetch(key: key) == nil)
    }

    @Test func `The time is that of the system by default`() async throws {
        let engine = base.expiring(after: .seconds(3_600))
        try await engine.write(value, key: key)
        #expect(try await engine.fetch(key: key) == value)
        let later = base.expiring(after: .zero) { Date() + 3_601 }
        #expect(try await later.fetch(key: key) == nil)
    }

    @Test func `The format of stored items does not change`() async throws {
        let engine = expiring(after: 10)
        try await engine.write(Data([1, 2]), key: key)
        // 1,000,010,000 milliseconds since 1970.
        #expect(
            try await base.fetch(key: key) == Data([0x45, 0x58, 0x50, 0x31, 0, 0, 0, 0, 0x3B, 0x9A, 0xF1, 0x10, 1, 2]))
    }

    @Test func `An item of another engine is reported, not returned`() async throws {
        let engine = expiring(after: 10)
        for foreign in [Data(), Data("EXP".utf8), Data("an old item without expiry".utf8)] {
            try await base.write(foreign, key: key)
            #expect(await code { try await engine.fetch(key: key) } == .decodingFailed)
            #expect(await code { try await engine.removeExpired() } == .decodingFailed)
        }
    }

    @Test func `An item of another engine does not keep expired items from being removed`() async throws {
        let engine = expiring(after: -1)
        try await engine.write([(CacheKey("a"), Data()), (CacheKey("c"), Data())])
        try await base.apply([.remove(key: CacheKey("c")), .write(key: CacheKey("b"), data: Data("foreign".utf8))])
        try await engine.write(Data(), key: CacheKey("c"))
        #expect(await code { try await engine.removeExpired() } == .decodingFailed)
        #expect(try await base.fetchKeys() == [CacheKey("b")])
    }

    @Test func `Expired items are removed, and only those`() async throws {
        let engine = expiring(after: 10)
        try await engine.write((0..<1_200).map { (CacheKey("\($0)"), value) })
        clock.advance(by: 10)
        try await engine.write(value, key: CacheKey("7"))
        try await engine.write(value, key: other)
        #expect(try await engine.removeExpired() == 1_199)
        #expect(try await base.fetchCount() == 2)
        #expect(try await engine.removeExpired() == 0)
    }

    @Test func `An item that is written again while expired ones are removed remains`() async throws {
        let gate = StorageGate()
        let faults = ConditionalGate(base: base, gate: gate)
        let engine = faults.expiring(after: .seconds(10)) { [clock] in clock.now() }
        try await engine.write([(key, value), (other, value)])
        clock.advance(by: 10)
        async let removed = engine.removeExpired()
        await gate.waitForArrivals(1)
        try await engine.write(value, key: key)
        gate.release()
        #expect(try await removed == 1)
        #expect(try await engine.fetchKeys() == [key])
        #expect(try await base.fetchKeys() == [key])
    }

    @Test func `A condition that there is no item holds for an expired one`() async throws {
        let engine = expiring(after: 10)
        try await engine.write(value, key: key)
        let write = StorageOperation.write(key: key, data: Data("new".utf8))
        #expect(try await !engine.apply([write], if: [StorageCondition(key: key, data: nil)]))
        clock.advance(by: 10)
        #expect(try await !engine.apply([write], if: [StorageCondition(key: key, data: value)]))
        #expect(try await engine.apply([write], if: [StorageCondition(key: key, data: nil)]))
        #expect(try await engine.fetch(key: key) == Data("new".utf8))
    }
}

/// An engine that holds conditional writes at a gate.
private struct ConditionalGate: ForwardingStorageEngine {
    let base: any StorageBackend
    let gate: StorageGate

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if case .apply(let batch) = call, batch.conditions != nil { try await gate.pass() }
        return try await body()
    }
}
