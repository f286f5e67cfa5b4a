import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What a cache adds to its base.
@Suite struct CacheTests {
    /// A base without a change feed that records its calls.
    private let memory = MemoryStorageEngine()
    private let recorder: RecordingStorageEngine
    private let base: FaultInjectingStorageEngine
    private let key = CacheKey("a")
    private let old = Data("old".utf8)
    private let new = Data("new".utf8)

    init() {
        recorder = RecordingStorageEngine(WithoutLog(memory))
        base = FaultInjectingStorageEngine(recorder)
    }

    private var fetches: Int { recorder.calls.count { $0.operation == .fetch } }

    // MARK: Reading

    @Test func `An item is read once, until it is written, which keeps it, or removed`() async throws {
        try await memory.write(old, key: key)
        let engine = base.cached()
        for _ in 1...3 { #expect(try await engine.fetch(key: key) == old) }
        #expect(await engine.read(key: key) == old)
        #expect(fetches == 1)
        try await engine.write(new, key: key)
        #expect(try await engine.fetch(key: key) == new)
        #expect(fetches == 1)
        try await engine.remove(key: key)
        #expect(try await engine.fetch(key: key) == nil)
        #expect(fetches == 2)
        let statistics = engine.statistics
        #expect(statistics.count == 0 && statistics.byteCount == 0)
        #expect(statistics.hitCount == 4 && statistics.missCount == 2)
    }

    @Test func `Several items are read from the cache only if all are in it`() async throws {
        let keys = (0..<5).map { CacheKey("\($0)") }
        try await memory.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        let engine = base.cached()
        for _ in 1...2 {
            let items = try await engine.fetch(keys: [keys[1], CacheKey("absent"), keys[1], keys[0]])
            let found = items.map(\.key)
            #expect(found == [keys[1], keys[1], keys[0]])
        }
        #expect(fetches == 2)
        let data = try await engine.fetch(keys: [keys[0], keys[1]]).map { String(decoding: $0.data, as: UTF8.self) }
        #expect(data == ["0", "1"])
        #expect(fetches == 2)
        #expect(try await engine.fetch(keys: keys).count == 5)
        #expect(try await engine.fetch(keys: keys).map(\.key) == keys)
        #expect(fetches == 3)
    }

    @Test func `Reads of all items use the base and leave the cache as it is`() async throws {
        let engine = base.cached(count: 2)
        let keys = (0..<9).map { CacheKey("\($0)") }
        try await memory.write(keys.map { ($0, old) })
        _ = try await engine.fetch(keys: [keys[0], keys[1]])
        #expect(try await engine.fetchAll().count == 9)
        #expect(try await engine.fetchCount() == 9)
        _ = try await engine.fetch(keys: [keys[0], keys[1]])
        #expect(fetches == 1)
        #expect(engine.statistics.count == 2)
    }

    @Test func `Concurrent reads of one absent item are one read`() async throws {
        try await memory.write(old, key: key)
        let gate = StorageGate()
        base.inject(.hold([.fetch], at: gate))
        let (engine, key) = (base.cached(), key)
        try await withThrowingTaskGroup(of: Data?.self) { group in
            for _ in 1...100 { group.addTask { try await engine.fetch(key: key) } }
            await gate.waitForArrivals(1)
            gate.release()
            for try await data in group { #expect(data == old) }
        }
        #expect(gate.arrivals == 1)
        #expect(fetches == 1)
    }

    @Test func `A reader that is cancelled ends alone`() async throws {
        try await memory.write(old, key: key)
        let gate = StorageGate()
        base.inject(.hold([.fetch], at: gate))
        let (engine, key) = (base.cached(), key)
        let first = Task { try await engine.fetch(key: key) }
        await gate.waitForArrivals(1)
        let waiting = Task { try await engine.fetch(key: key) }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await engine.fetch(key: key)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.release()
        #expect(try await waiting.value == old)
    }

    @Test func `A failed read is the error of all its readers, and is not kept`() async throws {
        try await memory.write(old, key: key)
        base.inject(.fail([.fetch]))
        let engine = base.cached()
        await #expect(throws: StorageError.self) { try await engine.fetch(key: key) }
        await #expect(throws: StorageError.self) { try await engine.fetch(keys: [key]) }
        base.clearFaults()
        #expect(try await engine.fetch(key: key) == old)
    }

    // MARK: Writing

    @Test func `A read that began before a write does not put the old item into the cache`() async throws {
        try await memory.write(old, key: key)
        let gate = StorageGate()
        // The item has been read, and its reader is held.
        let reader = HoldingEngine(base: memory, gate: gate)
        let (engine, key) = (reader.cached(), key)
        let read = Task { try await engine.fetch(key: key) }
        await gate.waitForArrivals(1)
        try await engine.write(new, key: key)
        #expect(try await engine.fetch(key: key) == new)
        gate.release()
        #expect(try await read.value == old)
        #expect(try await engine.fetch(key: key) == new)
    }

    @Test func `Nothing is kept after overlapping writes, and during a write reads use the base`() async throws {
        let gate = StorageGate()
        base.inject(.hold([.apply], at: gate))
        let (engine, key, old, new) = (base.cached(), key, old, new)
        let writes = [Task { try await engine.write(old, key: key) }, Task { try await engine.write(new, key: key) }]
        await gate.waitForArrivals(2)
        for _ in 1...2 { #expect(try await engine.fetch(key: key) == nil) }
        #expect(fetches == 2)
        gate.release()
        for write in writes { try await write.value }
        #expect(engine.statistics.count == 0)
        #expect(try await engine.fetch(key: key) == memory.fetch(key: key))
    }

    @Test func `After a failed write, the base decides what there is`() async throws {
        let engine = base.cached()
        for fault in [StorageFault.fail([.apply]), .failAfterwards([.apply])] {
            try await engine.write(old, key: key)
            #expect(engine.statistics.count == 1)
            base.inject(fault)
            await #expect(throws: StorageError.self) { try await engine.write(new, key: key) }
            await #expect(throws: StorageError.self) { try await engine.write([(key, new)]) }
            base.clearFaults()
            #expect(engine.statistics.count == 0)
            #expect(try await engine.fetch(key: key) == memory.fetch(key: key))
        }
    }

    @Test func `Large batches and removals of all items empty the cache`() async throws {
        let engine = base.cached()
        try await engine.write(old, key: key)
        try await engine.write((0...1_000).map { (CacheKey("\($0)"), new) })
        #expect(engine.statistics.count == 0)
        try await engine.write(old, key: key)
        try await engine.apply([.removeAll, .write(key: CacheKey("b"), data: new)])
        #expect(try await engine.fetch(key: key) == nil)
        #expect(try await engine.fetch(key: CacheKey("b")) == new)
    }

    @Test func `A conditional batch that is refused removes the items of its conditions`() async throws {
        let engine = WithoutLog(memory).cached()
        try await engine.write(old, key: key)
        try await memory.write(new, key: key)
        #expect(try await engine.fetch(key: key) == old)
        let condition = StorageCondition(key: key, data: old)
        #expect(try await engine.apply([.remove(key: key)], if: [condition]) == false)
        #expect(try await engine.fetch(key: key) == new)
        #expect(try await engine.apply([.remove(key: key)], if: [StorageCondition(key: key, data: new)]))
        #expect(try await engine.fetch(key: key) == nil)
    }

    // MARK: Limits

    @Test func `The limits hold at any time, for all sizes of items`() async throws {
        let engine = base.cached(count: 50, bytes: 12_000)
        let seed = Seed.current
        let mayEnd = Locked(false)
        let observer = Task.detached {
            var observations = 0
            while !mayEnd.withLock({ $0 }) || observations == 0 {
                let statistics = engine.statistics
                #expect(statistics.count <= 50 && statistics.byteCount <= 12_000 && statistics.byteCount >= 0)
                observations += 1
                await Task.yield()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(task))
                    for _ in 1...2_000 {
                        let key = CacheKey("\(Int.random(in: 0..<200, using: &generator))")
                        let data = Data(
                            count: [0, 1, 10, 100, 999, 11_000, 11_900, 12_001].randomElement(using: &generator) ?? 0)
                        switch Int.random(in: 0..<20, using: &generator) {
                        case 0: try await engine.remove(key: key)
                        case 1: try await engine.write((0..<9).map { (CacheKey("\($0)"), data) })
                        case 2: _ = try await engine.fetch(keys: (0..<9).map { CacheKey("\($0)") })
                        case 3 where task == 0: try await engine.removeAllData()
                        case 4...7: try await engine.write(data, key: key)
                        default: _ = try await engine.fetch(key: key)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        mayEnd.withLock { $0 = true }
        await observer.value
        for key in try await memory.fetchKeys() {
            #expect(try await engine.fetch(key: key) == memory.fetch(key: key), "seed \(seed)")
        }
    }

    @Test func `A cache without capacity, and an item larger than the limit, are ordinary`() async throws {
        for engine in [base.cached(count: 0), base.cached(bytes: 2), base.cached(count: -1, bytes: -1)] {
            try await engine.write(old, key: key)
            #expect(try await engine.fetch(key: key) == old)
            #expect(engine.statistics.count == 0)
        }
        // Empty items have no bytes, but places.
        let engine = base.cached(count: 3, bytes: nil)
        for number in 0..<9 { try await engine.write(Data(), key: CacheKey("\(number)")) }
        #expect(engine.statistics.count == 3)
    }

    @Test func `An item does not keep the buffer that it is a part of`() async throws {
        let engine = WithoutLog(memory).cached()
        weak var buffer: NSObject?
        do {
            let object = NSObject()
            buffer = object
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 1)
            let data = Data(
                bytesNoCopy: bytes, count: 1_000,
                deallocator: .custom { pointer, _ in
                    withExtendedLifetime(object) { pointer.deallocate() }
                })
            try await Blackhole().cached(bytes: 100).write(data[10..<20], key: key)
            try await engine.write(data[10..<20], key: key)
            try await memory.removeAllData()
        }
        #expect(buffer == nil)
        #expect(engine.statistics.byteCount == 10)
    }

    // MARK: Changes by others

    @Test func `A change by another writer reaches the cache`() async throws {
        let engine = memory.cached()
        try await memory.write(old, key: key)
        try await waitUntil("the cache held items") {
            _ = try await engine.fetch(key: key)
            return engine.statistics.count == 1
        }
        try await memory.write(new, key: key)
        try await waitUntil("the change arrived") { try await engine.fetch(key: key) == new }
        try await memory.removeAllData()
        try await waitUntil("the removal arrived") { try await engine.fetch(key: key) == nil }
    }

    @Test func `A change by another handle on the same file reaches the cache`() async throws {
        let folder = TemporaryFolder()
        let (mine, other) = (
            try SQLiteStorageEngine(opening: folder.directory).cached(),
            try SQLiteStorageEngine(opening: folder.directory)
        )
        for number in 1...20 {
            let data = Data("\(number)".utf8)
            try await other.write(data, key: key)
            try await waitUntil("change \(number) arrived") { try await mine.fetch(key: key) == data }
        }
    }

    @Test func `Changes by another process reach the cache`() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory).cached()
        let input = Pipe.separate()
        let child = try Child(["hold", "sqlite", folder.path], input: input)
        #expect(await child.nextLine() == "opened")
        for number in 0..<10 {
            let key = CacheKey(verbatim: "\(number)")
            try await engine.write(old, key: key)
            #expect(try await engine.fetch(key: key) == old)
            try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
            #expect(await child.nextLine() == "written")
            try await waitUntil("change \(number) arrived") {
                try await engine.fetch(key: key) == Data("\(number)".utf8)
            }
        }
        try input.fileHandleForWriting.close()
        _ = await child.lines()
    }

    @Test func `Own writes stay in the cache of an observable engine`() async throws {
        let (engine, other) = (memory.cached(), CacheKey("other"))
        try await memory.write(old, key: other)
        try await waitUntil("the cache held items") {
            _ = try await engine.fetch(key: other)
            return engine.statistics.count == 1
        }
        try await engine.write(old, key: key)
        // When this change has arrived, the earlier ones have, too.
        try await memory.write(new, key: other)
        try await waitUntil("the change arrived") { try await engine.fetch(key: other) == new }
        let hits = engine.statistics.hitCount
        #expect(try await engine.fetch(key: key) == old)
        #expect(engine.statistics.hitCount == hits + 1)
    }

    @Test func `The cache is not used while the feed can't be read`() async throws {
        let unreadable = Locked(false)
        let engine = Unreadable(base: memory, isUnreadable: unreadable).cached()
        try await memory.write(old, key: key)
        try await waitUntil("the cache held items") {
            _ = try await engine.fetch(key: key)
            return engine.statistics.count == 1
        }
        unreadable.withLock { $0 = true }
        try await memory.write(new, key: key)
        try await waitUntil("the change arrived") { try await engine.fetch(key: key) == new }
        #expect(engine.statistics.count == 0)
        unreadable.withLock { $0 = false }
        try await waitUntil("the cache held items again") {
            _ = try await engine.fetch(key: key)
            return engine.statistics.count == 1
        }
    }

    // MARK: Hit rates

    @Test func `A scan leaves what is read often`() async throws {
        let engine = base.cached(count: 100)
        func read(_ keys: some Sequence<Int>) async throws -> Int {
            let before = engine.statistics.hitCount
            for key in keys { _ = try await engine.fetch(key: CacheKey("\(key)")) }
            return engine.statistics.hitCount - before
        }
        try await memory.write((0..<2_000).map { (CacheKey("\($0)"), old) })
        for _ in 1...5 { _ = try await read(0..<50) }
        #expect(try await read(1_000..<2_000) == 0)
        #expect(try await read(0..<50) >= 45)
    }
}

/// Reads an item, then waits before it is returned.
private struct HoldingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let gate: StorageGate

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let value = try await body()
        if call.operation == .fetch, gate.arrivals == 0 { try await gate.pass() }
        return value
    }
}

/// An engine that keeps nothing.
private struct Blackhole: ThrowingStorageEngine {
    func fetch(key: CacheKey) async throws -> Data? { nil }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { [] }
    func fetchKeys() async throws -> [CacheKey] { [] }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { nil }
    func apply(_ operations: [StorageOperation]) async throws {}
}

/// An engine whose feed can't be read for a time.
private struct Unreadable: ForwardingStorageEngine {
    let base: any StorageBackend
    let isUnreadable: Locked<Bool>

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if [.fetchChanges, .fetchCursor].contains(call.operation), isUnreadable.withLock({ $0 }) {
            throw StorageError(.unreachable, "The feed can't be read.")
        }
        return try await body()
    }
}
