import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Which items a limited engine removes, and that it never holds too many.
@Suite struct LimitTests {
    private let base = MemoryStorageEngine()
    private let keys = (0..<20).map { CacheKey(verbatim: "\($0)") }

    private func names(of engine: some StorageEngine) async throws -> [String] {
        try await engine.fetchKeys().map(\.rawValue)
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    private func data(_ count: Int) -> Data { Data(repeating: 7, count: count) }

    @Test func `An item that can't be read does not keep the others from being read, and makes room like them`()
        async throws
    {
        let encrypted = base.encrypted(with: EncryptionKeyset())
        try await encrypted.write(keys.prefix(3).map { ($0, data(1)) })
        try await base.write(data(50), key: keys[0])
        let engine = encrypted.limited(count: 3)
        #expect(try await engine.fetch(key: keys[1]) == data(1))
        try await engine.write([(keys[3], data(1)), (keys[4], data(1))])
        #expect(try await base.fetchCount() == 3)
        #expect(try await names(of: base).suffix(2) == ["3", "4"])
    }

    @Test func `The items that were added longest ago make room`() async throws {
        let engine = base.limited(count: 3)
        for key in keys.prefix(3) { try await engine.write(data(1), key: key) }
        // An item that is overwritten keeps its place, and reading it makes no difference.
        try await engine.write(data(2), key: keys[0])
        #expect(try await engine.fetch(key: keys[0]) == data(2))
        try await engine.write(data(1), key: keys[3])
        #expect(try await names(of: base) == ["1", "2", "3"])
        // An item that was removed and is added again is the newest.
        try await engine.apply([.remove(key: keys[1]), .write(key: keys[1], data: data(1))])
        try await engine.write([(keys[4], data(1)), (keys[5], data(1))])
        #expect(try await names(of: base) == ["1", "4", "5"])
    }

    @Test func `The bytes of all items stay within the limit`() async throws {
        let engine = base.limited(bytes: 100)
        for key in keys.prefix(5) { try await engine.write(data(20), key: key) }
        #expect(try await base.fetchCount() == 5)
        // The first two make room for a larger value of the third.
        try await engine.write(data(60), key: keys[2])
        #expect(try await names(of: base) == ["2", "3", "4"])
        try await engine.write(data(0), key: keys[9])
        #expect(try await names(of: base) == ["2", "3", "4", "9"])
        try await engine.write(data(100), key: keys[9])
        #expect(try await names(of: base) == ["9"])
    }

    @Test func `A call that exceeds a limit alone changes nothing`() async throws {
        let engine = base.limited(count: 2, bytes: 10)
        try await engine.write(data(1), key: keys[0])
        let error = await #expect(throws: StorageError.self) { try await engine.write(data(11), key: keys[1]) }
        #expect(error?.code == .tooLarge && error?.key == keys[1])
        #expect(await code { try await engine.write(keys.prefix(3).map { ($0, Data()) }) } == .tooLarge)
        #expect(await code { try await engine.write(keys.prefix(2).map { ($0, data(6)) }) } == .tooLarge)
        #expect(try await names(of: base) == ["0"])
        // What counts is what a batch leaves.
        try await engine.apply([.write(key: keys[1], data: data(99)), .remove(key: keys[1])])
        try await engine.apply([.write(key: keys[1], data: data(99)), .removeAll, .write(key: keys[2], data: data(9))])
        #expect(try await names(of: base) == ["2"])
    }

    @Test func `Limits of zero allow no item, and none allow all`() async throws {
        let none = base.limited(count: 0)
        #expect(await code { try await none.write(Data(), key: keys[0]) } == .tooLarge)
        try await none.remove(key: keys[0])
        let empty = base.limited(bytes: -1)
        try await empty.write(Data(), key: keys[0])
        #expect(await code { try await empty.write(data(1), key: keys[0]) } == .tooLarge)
        let all = base.limited()
        for key in keys { try await all.write(data(1_000), key: key) }
        #expect(try await base.fetchCount() == 20)
    }

    @Test func `Lowered limits hold from the first call on, whichever it is`() async throws {
        for read in [true, false] {
            let folder = TemporaryFolder()
            let sqlite = try SQLiteStorageEngine(opening: folder.directory)
            for key in keys { try await sqlite.limited(count: 20).write(data(10), key: key) }
            let engine = sqlite.limited(bytes: 35)
            if read {
                #expect(try await engine.fetch(key: keys[0]) == nil)
            } else {
                try await engine.remove(key: keys[5])
            }
            #expect(try await names(of: sqlite) == ["17", "18", "19"])
        }
    }

    @Test func `No observer sees more than the limits while tasks write`() async throws {
        let folder = TemporaryFolder()
        let sqlite = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let engine = sqlite.limited(count: 30, bytes: 400)
        let isDone = Locked(false)
        async let observed: Int = {
            var observations = 0
            while !isDone.withLock({ $0 }) || observations < 10 {
                let items = try await sqlite.fetchAll()
                #expect(items.count <= 30)
                #expect(items.reduce(0) { $0 + $1.data.count } <= 400)
                observations += 1
            }
            return observations
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(writer))
                    for _ in 0..<50 {
                        let batch = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                            StorageOperation.write(
                                key: CacheKey("\(Int.random(in: 0..<99, using: &generator))"),
                                data: data(Int.random(in: 0...40, using: &generator)))
                        }
                        try await engine.apply(batch)
                    }
                }
            }
            try await group.waitForAll()
        }
        isDone.withLock { $0 = true }
        #expect(try await observed >= 10)
        // The engine has counted right: with room for one more byte, one more byte evicts nothing.
        let items = try await sqlite.fetchAll()
        let bytes = items.reduce(0) { $0 + $1.data.count }
        let fresh = CacheKey("fresh")
        if items.count < 30, bytes < 400 {
            try await engine.write(data(400 - bytes), key: fresh)
            #expect(try await sqlite.fetchCount() == items.count + 1)
        }
    }

    @Test func `After a write that failed, the engine counts what there is`() async throws {
        for wasApplied in [false, true] {
            let memory = MemoryStorageEngine()
            let faults = FaultInjectingStorageEngine(memory)
            let engine = faults.limited(count: 3)
            for key in keys.prefix(3) { try await engine.write(data(1), key: key) }
            let error = StorageError(.timedOut, "The answer is lost.")
            // The engine can't tell whether the write was applied.
            faults.inject(
                wasApplied
                    ? .failAfterwards([.apply], .number(1), with: error) : .fail([.apply], .number(1), with: error))
            #expect(await code { try await engine.write(data(1), key: keys[3]) } == .timedOut)
            try await engine.write(data(1), key: keys[4])
            #expect(try await names(of: memory) == (wasApplied ? ["2", "3", "4"] : ["1", "2", "4"]))
            faults.inject(.fail([.apply], .number(1), with: error))
            #expect(await code { try await engine.removeAllData() } == .timedOut)
            try await engine.write(data(1), key: keys[5])
            #expect(try await memory.fetchCount() == 3)
        }
    }

    @Test func `After a write whose result is unknown, items are evicted in the order in which they were added`()
        async throws
    {
        let faults = FaultInjectingStorageEngine(base)
        let engine = faults.limited(count: 20)
        let error = StorageError(.timedOut, "The answer is lost.")
        faults.inject(.failAfterwards([.apply], with: error))
        #expect(await code { try await engine.write(keys.prefix(18).map { ($0, data(1)) }) } == .timedOut)
        faults.clearFaults()
        try await engine.write(data(1), key: keys[18])
        faults.inject(.failAfterwards([.apply], with: error))
        let again = [StorageOperation.remove(key: keys[0]), .write(key: keys[0], data: data(1))]
        #expect(await code { try await engine.apply(again) } == .timedOut)
        faults.clearFaults()
        for number in 20..<34 { try await engine.write(data(1), key: CacheKey("\(number)")) }
        let expected = keys[14...18] + [keys[0]]
        #expect(try await base.fetchKeys().prefix(6) == expected)
    }

    @Test func `The calls of the base do not depend on the number of items`() async throws {
        var calls: [[String]] = []
        for count in [10, 3_000] {
            let recorder = RecordingStorageEngine(MemoryStorageEngine())
            let engine = recorder.limited(count: count)
            try await engine.write((0..<count).map { (CacheKey("\($0)"), data(1)) })
            recorder.clearCalls()
            try await engine.write(data(1), key: CacheKey("new"))
            try await engine.write(data(2), key: CacheKey("new"))
            try await engine.remove(key: CacheKey("5"))
            _ = try await engine.fetch(key: CacheKey("6"))
            _ = try await engine.fetch(keys: [CacheKey("6"), CacheKey("7")])
            calls.append(recorder.calls.map { "\($0.operation) of \($0.keys.count)" })
        }
        #expect(calls[0] == ["apply of 2", "apply of 1", "apply of 1", "fetch of 1", "fetch of 2"])
        #expect(calls[1] == calls[0])
    }

    @Test func `A conditional batch makes room only if it is applied`() async throws {
        let engine = base.limited(count: 2)
        for key in keys.prefix(2) { try await engine.write(data(1), key: key) }
        let write = StorageOperation.write(key: keys[2], data: data(1))
        #expect(try await !engine.apply([write], if: [StorageCondition(key: keys[0], data: nil)]))
        #expect(try await names(of: base) == ["0", "1"])
        #expect(try await engine.apply([write], if: [StorageCondition(key: keys[0], data: data(1))]))
        #expect(try await names(of: base) == ["1", "2"])
    }

    @Test func `Items that are written with their dates make room, too`() async throws {
        let engine = base.limited(count: 2)
        let dates = StorageDates(
            createdAt: Date(timeIntervalSince1970: 1), updatedAt: Date(timeIntervalSince1970: 2))
        for key in keys.prefix(4) {
            try await engine.write(items: [StorageItem(key: key, data: data(1), dates: dates)])
        }
        #expect(try await names(of: base) == ["2", "3"])
        #expect(try await engine.fetchDates(key: keys[3]) == dates)
    }

    @Test func `A cancelled write waits no longer and changes nothing`() async throws {
        let gate = StorageGate()
        let faults = FaultInjectingStorageEngine(base)
        let engine = faults.limited(count: 2)
        try await engine.write(data(1), key: keys[0])
        faults.inject(.hold([.apply], at: gate))
        async let first: Void = engine.write(data(1), key: keys[1])
        await gate.waitForArrivals(1)
        let second = Task { try await engine.write(data(1), key: keys[2]) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.release()
        try await first
        #expect(try await names(of: base) == ["0", "1"])
    }
}
