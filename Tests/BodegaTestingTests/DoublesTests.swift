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
        let engine = FaultInjectingStorageEngine(memory, faults: [.fail([.write], .number(2))])
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

    @Test func `lose the answer of a call that was done`() async throws {
        let engine = FaultInjectingStorageEngine(memory, faults: [.failAfterwards([.apply, .fetchAll])])
        await #expect(throws: StorageError.self) { try await engine.apply([.write(key: a, data: Data())]) }
        #expect(await memory.allKeys() == [a])
        await #expect(throws: StorageError.self) { try await engine.fetchAll() }
    }

    @Test func `decide in the order of the plan`() async throws {
        let engine = FaultInjectingStorageEngine(
            memory,
            faults: [.fail([.fetch], .number(2), with: StorageError(.locked, "")), .fail([.fetch], with: StorageError(.readOnly, ""))]
        )
        for expected in [StorageError.Code.readOnly, .locked, .readOnly] {
            let error = await #expect(throws: StorageError.self) { try await engine.fetch(key: a) }
            #expect(error?.code == expected)
        }
    }

    @Test func `delay a call until the gate opens`() async throws {
        let gate = StorageGate()
        let engine = FaultInjectingStorageEngine(memory, faults: [.hold([.write], at: gate)])
        async let write: Void = engine.write(Data([1]), key: a)
        await gate.waitForArrivals(1)
        #expect(await engine.read(key: a) == nil)
        gate.release()
        try await write
        #expect(await engine.read(key: a) == Data([1]))
    }
}

@Suite struct `A gate` {

    @Test func `lets a cancelled call go with an error`() async {
        let gate = StorageGate()
        let waiting = Task { try await gate.pass() }
        await gate.waitForArrivals(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `lets nobody in who was cancelled before`() async {
        let gate = StorageGate()
        let start = StorageGate()
        let waiting = Task {
            try? await start.pass()
            try await gate.pass()
        }
        waiting.cancel()
        start.release()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `closes again and counts those that passed`() async throws {
        let gate = StorageGate(isOpen: true)
        try await gate.pass()
        gate.hold()
        async let second: Void = gate.pass()
        async let third: Void = gate.pass()
        await gate.waitForArrivals(3)
        #expect(gate.arrivals == 3)
        gate.release()
        _ = try await (second, third)
    }
}

@Suite struct `A recording` {

    @Test func `has the calls with keys and results`() async throws {
        let base = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.fail([.fetchCount])])
        let engine = RecordingStorageEngine(base)
        let (a, b) = (CacheKey("a"), CacheKey("b"))
        try await engine.write(Data([1]), key: a)
        try await engine.apply([.removeAll, .write(key: b, data: Data([2])), .remove(key: a)])
        _ = try await engine.fetch(key: b)
        _ = await engine.keysExist([a, b])
        _ = await engine.keyCount()
        let calls = engine.calls
        #expect(calls.map(\.operation) == [.write, .apply, .fetch, .fetchKeysAmong, .fetchCount])
        #expect(calls.map(\.keys) == [[a], [b, a], [b], [a, b], []])
        guard case .data(Data([2])) = calls[2].outcome else { throw Unexpected(calls[2]) }
        guard case .keys([b]) = calls[3].outcome else { throw Unexpected(calls[3]) }
        #expect(calls.map { $0.error != nil } == [false, false, false, false, true])
        engine.clearCalls()
        #expect(engine.calls.isEmpty)
    }

    private struct Unexpected: Error {
        let call: StorageEngineCall
        init(_ call: StorageEngineCall) { self.call = call }
    }
}

@Suite struct `Clocks and seeds` {

    @Test func `A manual clock moves only when told to`() {
        let clock = ManualClock(startingAt: Date(timeIntervalSince1970: 100))
        let now = clock.now
        #expect(now() == Date(timeIntervalSince1970: 100))
        clock.advance(by: 2.5)
        #expect(now() == Date(timeIntervalSince1970: 102.5))
        clock.set(to: Date(timeIntervalSince1970: 7))
        #expect(now() == clock.current && now() == Date(timeIntervalSince1970: 7))
    }

    @Test func `SplitMix64 gives the numbers of its reference implementation`() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(
            (0..<5).map { _ in generator.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }
}

@Suite struct `The memory engine` {

    static let configuration = StorageEngineConformance.Configuration(
        "MemoryStorageEngine",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in MemoryStorageEngine(now: workspace.clock.now) }

    /// The doubles change nothing unless told to.
    static let throughDoubles = StorageEngineConformance.Configuration(
        "Memory through the doubles",
        capabilities: .all.subtracting(.persistent)
    ) { workspace in
        RecordingStorageEngine(FaultInjectingStorageEngine(MemoryStorageEngine(now: workspace.clock.now)))
    }

    @Test(arguments: [configuration, throughDoubles].flatMap(StorageEngineConformance.checks(for:)))
    func `conforms`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }
}
