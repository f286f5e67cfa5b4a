import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What a mirror receives, and when it is read.
@Suite struct MirrorTests {
    private typealias Faulty = FaultInjectingStorageEngine

    private let base = Faulty(RecordingStorageEngine(MemoryStorageEngine()))
    private let mirror = Faulty(RecordingStorageEngine(MemoryStorageEngine()))
    private let clock = InstantClock()
    private let keys = (0..<10).map { CacheKey(verbatim: "\($0)") }
    private let old = Data("old".utf8)
    private let new = Data("new".utf8)
    private let unreachable = StorageError(.unreachable, "The engine is gone.")

    private func makeEngine() -> MirroredStorageEngine { base.mirrored(to: mirror, clock: clock) }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    /// The items of an engine by their keys, without the mark of a mirror.
    private func items(of engine: some StorageEngine) async throws -> [String: Data] {
        var items = Dictionary(uniqueKeysWithValues: try await engine.fetchAll().map { ($0.key.rawValue, $0.data) })
        items["emporium.mirror"] = nil
        return items
    }

    private func fail(_ engine: Faulty) {
        engine.inject(.fail(.all, with: unreachable))
    }

    // MARK: Writing

    @Test func `Each kind of write reaches the mirror`() async throws {
        let (base, mirror) = (MemoryStorageEngine(), MemoryStorageEngine())
        let engine = base.mirrored(to: mirror)
        let dates = StorageDates(createdAt: Date(timeIntervalSince1970: 1), updatedAt: Date(timeIntervalSince1970: 2))
        let writes: [@Sendable () async throws -> Void] = [
            { [keys, old] in try await engine.write(old, key: keys[0]) },
            { [keys, old] in try await engine.write(keys.map { ($0, old) }) },
            { [keys] in try await engine.remove(key: keys[0]) },
            { [keys] in try await engine.remove(keys: [keys[1], keys[2]]) },
            { [keys, new] in try await engine.apply([.write(key: keys[0], data: new), .remove(key: keys[3])]) },
            { [keys, new] in try await engine.write(items: [StorageItem(key: keys[1], data: new, dates: dates)]) },
            { [keys, new] in
                let isApplied = try await engine.apply([.remove(key: keys[0])], if: [.init(key: keys[0], data: new)])
                #expect(isApplied)
            },
            { [keys, old] in
                let isApplied = try await engine.apply([.removeAll], if: [.init(key: keys[1], data: old)])
                #expect(!isApplied)
            },
            { try await engine.apply([]) },
            { try await engine.removeAllData() },
            { [keys, old] in try await engine.write(old, key: keys[0]) },
        ]
        for write in writes {
            try await write()
            #expect(engine.isMirrorComplete)
            let (written, copied) = (try await items(of: base), try await items(of: mirror))
            #expect(written == copied)
            #expect(try await mirror.fetch(key: CacheKey(verbatim: "emporium.mirror")) == Data("complete".utf8))
        }
        #expect(try await items(of: mirror) == ["0": old])
    }

    @Test func `A write succeeds without the mirror, and the next one brings it what it lacks`() async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        fail(mirror)
        try await engine.write(new, key: keys[0])
        try await engine.remove(key: keys[1])
        #expect(!engine.isMirrorComplete)
        fail(base)
        #expect(await code { try await engine.fetch(key: keys[0]) } == .unreachable)
        base.clearFaults()
        mirror.clearFaults()
        // The mirror is not called for ten seconds.
        try await engine.write(new, key: keys[2])
        #expect(!engine.isMirrorComplete)
        clock.advance(by: .seconds(10))
        try await engine.write(new, key: keys[3])
        #expect(engine.isMirrorComplete)
        let (written, copied) = (try await items(of: base), try await items(of: mirror))
        #expect(written == copied)
    }

    @Test(arguments: [false, true])
    func `A write that the base has failed is the same in the mirror after the next one`(_ isApplied: Bool) async throws
    {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        base.inject(isApplied ? .failAfterwards([.apply], with: unreachable) : .fail([.apply], with: unreachable))
        let operations = [StorageOperation.write(key: keys[0], data: new), .remove(key: keys[1])]
        #expect(await code { try await engine.apply(operations) } == .unreachable)
        // The mirror has all writes that have returned.
        #expect(engine.isMirrorComplete)
        base.clearFaults()
        try await engine.write(new, key: keys[2])
        let (written, copied) = (try await items(of: base), try await items(of: mirror))
        #expect(written == copied)
        #expect(written["0"] == (isApplied ? new : old))
    }

    @Test func `A mirror that lacks a removal of all items is not read after the next write`() async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        base.inject(.failAfterwards([.apply], with: unreachable))
        #expect(await code { try await engine.removeAllData() } == .unreachable)
        base.clearFaults()
        try await engine.write(new, key: keys[0])
        #expect(!engine.isMirrorComplete)
        base.inject(.fail([.fetch], .number(1), with: unreachable))
        #expect(await code { try await engine.fetch(key: keys[1]) } == .unreachable)
        #expect(try await engine.repair() == 9)
        #expect(try await items(of: mirror) == ["0": new])
    }

    @Test func `A mirror becomes a base, and its mark is not copied`() async throws {
        try await makeEngine().write(keys.map { ($0, old) })
        // The mirror has replaced its base, and gets a mirror of its own.
        let next = Faulty(RecordingStorageEngine(MemoryStorageEngine()))
        let engine = mirror.mirrored(to: next, clock: clock)
        next.inject(.failAfterwards([.apply], .number(1), with: unreachable))
        #expect(await code { try await engine.repair() } == .unreachable)
        #expect(try await next.fetch(key: CacheKey(verbatim: "emporium.mirror")) == Data("incomplete".utf8))
        next.clearFaults()
        try await engine.repair()
        try await engine.remove(key: CacheKey(verbatim: "emporium.mirror"))
        #expect(engine.isMirrorComplete)
        #expect(try await next.fetch(key: CacheKey(verbatim: "emporium.mirror")) == Data("complete".utf8))
        mirror.inject(.fail([.fetch], with: unreachable))
        #expect(try await engine.fetch(key: CacheKey(verbatim: "emporium.mirror")) == nil)
    }

    @Test func `A repair returns the number of items that differed`() async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        base.inject(.fail([.apply], .number(1), with: unreachable))
        #expect(await code { try await engine.write(new, key: keys[0]) } == .unreachable)
        #expect(try await engine.repair() == 0)
    }

    // MARK: Reading

    @Test func `Each kind of read is answered by the mirror if the base fails`() async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        fail(base)
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(try await engine.fetch(keys: [keys[1], CacheKey("absent")]).map(\.key) == [keys[1]])
        #expect(try await engine.fetchAll().map(\.key) == keys)
        #expect(try await engine.fetchAllData().count == 10)
        #expect(try await engine.fetchKeys() == keys)
        #expect(try await engine.fetchKeys(among: [keys[2], CacheKey("absent")]) == [keys[2]])
        #expect(try await engine.fetchCount() == 10)
        #expect(try await engine.fetchDates(key: keys[0]) != nil)
        #expect(await engine.read(key: keys[0]) == old)
    }

    @Test func `A base that is unreachable is left alone for a time`() async throws {
        let engine = makeEngine()
        try await engine.write(old, key: keys[0])
        fail(base)
        #expect(try await engine.fetch(key: keys[0]) == old)
        base.clearFaults()
        let calls = base.recordedCalls.count
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(base.recordedCalls.count == calls)
        clock.advance(by: .seconds(10))
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(base.recordedCalls.count == calls + 1)
    }

    @Test func `A base with one damaged item is still read, and a closed one is not replaced`() async throws {
        let engine = makeEngine()
        try await engine.write(old, key: keys[0])
        base.inject(.fail([.fetch], .number(1), with: StorageError(.decryptionFailed, "Damaged.", key: keys[0])))
        #expect(try await engine.fetch(key: keys[0]) == old)
        let calls = base.recordedCalls.count
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(base.recordedCalls.count == calls + 1)
        base.inject(.fail([.fetch], with: StorageError(.closed, "Closed.")))
        #expect(await code { try await engine.fetch(key: keys[0]) } == .closed)
    }

    @Test func `An empty mirror does not stand in for items that it never had`() async throws {
        try await base.write(old, key: keys[0])
        let engine = makeEngine()
        try await engine.write(old, key: keys[1])
        #expect(!engine.isMirrorComplete)
        fail(base)
        #expect(await code { try await engine.fetchAll() } == .unreachable)
        base.clearFaults()
        #expect(try await engine.repair() == 1)
        #expect(engine.isMirrorComplete)
        fail(base)
        #expect(try await engine.fetchCount() == 2)
    }

    // MARK: Repairing

    @Test func `A repair makes both equal, and compares everything on demand`() async throws {
        let engine = makeEngine()
        try await engine.write((0..<1_200).map { (CacheKey("\($0)"), old) })
        #expect(try await engine.repair() == 0)
        // Another program writes to each of them.
        try await base.write(new, key: CacheKey("7"))
        try await base.remove(key: CacheKey("8"))
        try await mirror.write(new, key: CacheKey("foreign"))
        try await mirror.remove(key: CacheKey("9"))
        #expect(try await engine.repair() == 0)
        #expect(try await engine.repair(comparingAll: true) == 4)
        let (written, copied) = (try await items(of: base), try await items(of: mirror))
        #expect(written == copied)
        #expect(written.count == 1_199)
    }

    @Test func `A repair that fails leaves the mirror unread, and can be called again`() async throws {
        try await base.write(keys.map { ($0, old) })
        let engine = makeEngine()
        mirror.inject(.fail([.apply], with: unreachable))
        #expect(await code { try await engine.repair() } == .unreachable)
        fail(base)
        #expect(await code { try await engine.fetch(key: keys[0]) } == .unreachable)
        base.clearFaults()
        mirror.clearFaults()
        #expect(try await engine.repair() == 10)
        #expect(engine.isMirrorComplete)
    }

    @Test func `Items that are written during a repair are in both`() async throws {
        try await base.write((0..<2_000).map { (CacheKey("\($0)"), old) })
        let engine = makeEngine()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(writer))
                    for number in 0..<200 {
                        let key = CacheKey("\(Int.random(in: 0..<2_500, using: &generator))")
                        if number.isMultiple(of: 3) {
                            try await engine.remove(key: key)
                        } else {
                            try await engine.write(Data("\(writer) \(number)".utf8), key: key)
                        }
                    }
                }
            }
            group.addTask { try await engine.repair() }
            try await group.waitForAll()
        }
        #expect(engine.isMirrorComplete)
        let (written, copied) = (try await items(of: base), try await items(of: mirror))
        #expect(written == copied)
    }

    // MARK: Crashes

    /// Ends a program at each call that its engines receive, before or after that takes effect. A mirror that says that
    /// it is complete then has all writes that have returned, and a repair makes both engines equal.
    @Test(arguments: [false, true])
    func `At whichever call a program ends, its mirror is complete or says that it is not`(
        _ isApplied: Bool
    ) async throws {
        var ending = 0
        while true {
            let (base, mirror) = (MemoryStorageEngine(), MemoryStorageEngine())
            let crash = Crash(at: ending, isApplied: isApplied)
            let program = CrashingEngine(base: base, crash: crash)
                .mirrored(to: CrashingEngine(base: mirror, crash: crash), clock: clock)
            var returned: [String: Data] = [:]
            var ongoing: [String: Data]?
            do {
                for number in 0..<6 {
                    let (added, removed) = (keys[number], keys[max(0, number - 2)])
                    var next = returned
                    next[added.rawValue] = Data("\(number)".utf8)
                    next[removed.rawValue] = nil
                    ongoing = next
                    try await program.apply([.write(key: added, data: Data("\(number)".utf8)), .remove(key: removed)])
                    returned = next
                    ongoing = nil
                }
            } catch is Crash.Ended {}
            if !crash.hasEnded {
                // A crash after the last call was the last one to try.
                #expect(ending > 12)
                return
            }
            // A mirror that fails does not fail the write, so the program can have "returned" after its end.
            let next = base.mirrored(to: mirror, clock: clock)
            let copied = try await items(of: mirror)
            if try await mirror.fetch(key: CacheKey(verbatim: "emporium.mirror")) == Data("complete".utf8) {
                let written = try await items(of: base)
                #expect(copied == written || copied == ongoing, "call \(ending)")
            }
            try await next.repair()
            let (written, repaired) = (try await items(of: base), try await items(of: mirror))
            #expect(written == repaired, "call \(ending)")
            #expect(written == returned || written == ongoing, "call \(ending)")
            #expect(next.isMirrorComplete)
            ending += 1
        }
    }
}

/// The end of a program at one call.
private final class Crash: Sendable {
    struct Ended: Error {}

    private let calls = Locked(0)
    private let end: Int
    private let isApplied: Bool

    init(at end: Int, isApplied: Bool) {
        (self.end, self.isApplied) = (end, isApplied)
    }

    var hasEnded: Bool { calls.withLock { $0 > end } }

    func call<Value>(_ body: () async throws -> Value) async throws -> Value {
        let number = calls.withLock { calls in
            defer { calls += 1 }
            return calls
        }
        if number < end || (number == end && isApplied) {
            let value = try await body()
            if number < end { return value }
        }
        throw Ended()
    }
}

/// An engine of a program that ends.
private struct CrashingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let crash: Crash

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await crash.call(body)
    }
}
