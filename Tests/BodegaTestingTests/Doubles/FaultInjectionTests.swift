import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `Injected faults` {

    private let memory = MemoryStorageEngine()
    private let a = CacheKey("a")
    private let b = CacheKey("b")
    private let c = CacheKey("c")

    @Test func `fail the n-th matching call only`() async throws {
        let engine = FaultInjectingStorageEngine(memory, faults: [.fail([.apply], .number(3))])
        try await engine.write(Data([1]), key: a)
        try await engine.write([(b, Data([2]))])
        await #expect(throws: StorageError.self) { try await engine.write(Data([3]), key: c) }
        try await engine.write(Data([4]), key: c)
        #expect(await engine.readAllData() == [Data([1]), Data([2]), Data([4])])
    }

    @Test func `fail each call from the n-th on, until they are cleared`() async throws {
        let full = StorageError(.storageFull, "The disk is full.")
        let engine = FaultInjectingStorageEngine(memory, faults: [.fail(.writes, .from(2), with: full)])
        try await engine.write(Data(), key: a)
        for _ in 0..<2 {
            let error = await #expect(throws: StorageError.self) { try await engine.removeAllData() }
            #expect(error?.code == .storageFull)
        }
        #expect(await memory.keyCount() == 1)
        engine.clearFaults()
        try await engine.removeAllData()
        #expect(await memory.keyCount() == 0)
    }

    @Test func `throw from the fetch forms and look like absence in the read forms`() async throws {
        let engine = FaultInjectingStorageEngine(memory)
        try await engine.write(Data([1]), key: a)
        engine.inject(.fail(.reads))
        await #expect(throws: StorageError.self) { try await engine.fetch(key: a) }
        await #expect(throws: StorageError.self) { try await engine.fetch(keys: [a]) }
        await #expect(throws: StorageError.self) { try await engine.fetchAll() }
        await #expect(throws: StorageError.self) { try await engine.fetchAllData() }
        await #expect(throws: StorageError.self) { try await engine.fetchKeys() }
        await #expect(throws: StorageError.self) { try await engine.fetchKeys(among: [a]) }
        await #expect(throws: StorageError.self) { try await engine.fetchCount() }
        await #expect(throws: StorageError.self) { try await engine.fetchDates(key: a) }
        #expect(await engine.read(key: a) == nil)
        #expect(await engine.readAllData() == [])
        #expect(await engine.keyCount() == 0)
        #expect(await !engine.keyExists(a))
        #expect(await engine.createdAt(key: a) == nil)
    }

    @Test(arguments: 0...4)
    func `tear a batch after its first operations`(_ applied: Int) async throws {
        let engine = FaultInjectingStorageEngine(memory, faults: [.tear([.apply], afterFirst: applied)])
        await #expect(throws: StorageError.self) {
            try await engine.apply([a, b, c].map { .write(key: $0, data: Data()) })
        }
        #expect(await memory.allKeys() == Array([a, b, c].prefix(applied)))
    }

    @Test func `tear writes and removals of several keys`() async throws {
        let engine = FaultInjectingStorageEngine(memory, faults: [.tear(afterFirst: 2)])
        await #expect(throws: StorageError.self) { try await engine.write([a, b, c].map { ($0, Data()) }) }
        #expect(await memory.allKeys() == [a, b])
        try await memory.write(Data(), key: c)
        await #expect(throws: StorageError.self) { try await engine.remove(keys: [c, a, b]) }
        #expect(await memory.allKeys() == [b])
    }

    @Test func `fail a call after it has taken effect`() async throws {
        let engine = FaultInjectingStorageEngine(memory, faults: [.failAfterwards([.apply, .scan])])
        await #expect(throws: StorageError.self) { try await engine.apply([.write(key: a, data: Data())]) }
        #expect(await memory.allKeys() == [a])
        await #expect(throws: StorageError.self) { try await engine.fetchAll() }
    }

    @Test func `take effect in the order of the plan`() async throws {
        let engine = FaultInjectingStorageEngine(
            memory,
            faults: [
                .fail([.fetch], .number(2), with: StorageError(.locked, "")),
                .fail([.fetch], with: StorageError(.readOnly, "")),
            ]
        )
        for expected in [StorageError.Code.readOnly, .locked, .readOnly] {
            let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: a) }
            #expect(error?.code == expected)
        }
    }

    @Test func `delay a call until the gate opens`() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(memory, faults: [.hold([.apply], at: gate)])
        async let write: Void = engine.write(Data([1]), key: a)
        await gate.waitForArrivals(1)
        #expect(await engine.read(key: a) == nil)
        gate.release()
        try await write
        #expect(await engine.read(key: a) == Data([1]))
    }
}
