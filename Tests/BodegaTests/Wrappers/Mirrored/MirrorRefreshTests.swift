import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Mirrors of an engine whose items others change, such as an API: read first, and refreshed from time to time.
@Suite struct MirrorRefreshTests {
    private typealias Faulty = FaultInjectingStorageEngine

    private let base = Faulty(RecordingStorageEngine(MemoryStorageEngine()))
    private let mirror = Faulty(RecordingStorageEngine(MemoryStorageEngine()))
    private let clock = InstantClock()
    private let keys = (0..<10).map { CacheKey("\($0)") }
    private let old = Data("old".utf8)
    private let new = Data("new".utf8)
    private let unreachable = StorageError(.unreachable, "The engine is gone.")

    /// An engine as the next program opens it.
    private func makeEngine(_ reading: MirrorReading = .first) -> MirroredStorageEngine {
        base.mirrored(to: mirror, readingMirror: reading, clock: clock)
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    private func items(of engine: some StorageEngine) async throws -> [String: Data] {
        var items = Dictionary(uniqueKeysWithValues: try await engine.fetchAll().map { ($0.key.rawValue, $0.data) })
        items["emporium.mirror"] = nil
        return items
    }

    private func expectEqual() async throws {
        let (written, copied) = (try await items(of: base), try await items(of: mirror))
        #expect(written == copied)
    }

    @Test func `A copy that can't be decrypted is replaced by a refresh and by a repair`() async throws {
        let (base, stored) = (MemoryStorageEngine(), MemoryStorageEngine())
        let engine = base.mirrored(to: stored.encrypted(with: EncryptionKeyset()), readingMirror: .first, clock: clock)
        try await base.write(keys.map { ($0, old) })
        try await engine.refresh()
        let mend: [@Sendable () async throws -> Int] = [
            { try await engine.refresh() }, { try await engine.repair(comparingAll: true) },
        ]
        for mend in mend {
            // A damaged copy of an item, and one of no item.
            for key in [keys[0], CacheKey("gone")] { try await stored.write(Data("damaged".utf8), key: key) }
            #expect(try await mend() == 2)
            #expect(try await engine.fetchAll().map(\.data) == keys.map { _ in old })
            #expect(try await stored.fetchKeys(among: [CacheKey("gone")]).isEmpty)
        }
    }

    @Test func `Reads go to the base until the mirror was refreshed, and then to the mirror`() async throws {
        try await base.write(keys.map { ($0, old) })
        let engine = makeEngine()
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(try await items(of: mirror).isEmpty)
        base.inject(.fail(.all, with: unreachable))
        #expect(await code { try await engine.fetchAll() } == .unreachable)
        base.clearFaults()
        #expect(try await engine.refresh() == 10)
        let calls = base.recordedCalls.count
        for engine in [engine, makeEngine()] {
            #expect(try await engine.fetch(key: keys[0]) == old)
            #expect(try await engine.fetch(keys: [keys[1]]).map(\.data) == [old])
            #expect(try await engine.fetchAll().map(\.key) == keys)
            #expect(try await engine.fetchAllData().count == 10)
            #expect(try await engine.fetchKeys() == keys)
            #expect(try await engine.fetchKeys(among: [keys[2]]) == [keys[2]])
            #expect(try await engine.fetchCount() == 10)
        }
        #expect(base.recordedCalls.count == calls)
        // The dates are those of the base.
        #expect(try await engine.fetchDates(key: keys[0]) == base.fetchDates(key: keys[0]))
    }

    @Test func `A refresh brings what others have written, with one read and one batch`() async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        try await base.write(new, key: keys[0])
        try await base.remove(key: keys[1])
        try await base.write(new, key: CacheKey("added"))
        let (reads, writes) = (base.recordedCalls.count, mirror.recordedCalls.count)
        #expect(try await engine.refresh() == 3)
        #expect(base.recordedCalls.count == reads + 1)
        #expect(mirror.recordedCalls.count == writes + 2)
        try await expectEqual()
        #expect(try await engine.fetch(key: keys[0]) == new)
        #expect(try await engine.refresh() == 0)
    }

    @Test(arguments: [true, false])
    func `A refresh that fails changes nothing, and the mirror is still read`(_ isBase: Bool) async throws {
        let engine = makeEngine()
        try await engine.write(keys.map { ($0, old) })
        try await base.write(new, key: keys[0])
        (isBase ? base : mirror).inject(.fail(isBase ? [.scan] : [.apply], with: unreachable))
        #expect(await code { try await engine.refresh() } == .unreachable)
        for engine in [engine, makeEngine()] { #expect(try await engine.fetch(key: keys[0]) == old) }
        base.clearFaults()
        mirror.clearFaults()
        #expect(try await engine.refresh() == 1)
        try await expectEqual()
    }

    @Test func `A mirror that can't be read gives way to the base`() async throws {
        let engine = makeEngine()
        try await engine.write(old, key: keys[0])
        mirror.inject(.fail([.fetch], with: StorageError(.damaged, "Damaged.")))
        #expect(try await engine.fetch(key: keys[0]) == old)
        base.inject(.fail([.fetch], with: unreachable))
        #expect(await code { try await engine.fetch(key: keys[0]) } == .unreachable)
    }

    @Test(arguments: [false, true])
    func `After a write that the base has failed, the next program reads the mirror`(_ isApplied: Bool) async throws {
        try await makeEngine().write(keys.map { ($0, old) })
        base.inject(
            isApplied ? .failAfterwards([.apply], with: unreachable) : .fail(.all, with: unreachable))
        #expect(await code { try await makeEngine().write(new, key: keys[0]) } == .unreachable)
        base.clearFaults()
        base.inject(.fail(.all, with: unreachable))
        for reading in [MirrorReading.first, .whenBaseFails] {
            #expect(try await makeEngine(reading).fetch(key: keys[0]) == old)
        }
        base.clearFaults()
        // A later write does not hide that the mirror may lack the failed one, nor makes it unreadable.
        let engine = makeEngine()
        try await engine.write(new, key: keys[1])
        base.inject(.fail(.all, with: unreachable))
        #expect(try await makeEngine().fetch(key: keys[1]) == new)
        base.clearFaults()
        #expect(try await makeEngine().repair() == (isApplied ? 1 : 0))
        try await expectEqual()
    }

    @Test func `After a write that was cancelled, the next program reads the mirror`() async throws {
        let mirror = Cancellable(base: MemoryStorageEngine())
        let base = Cancellable(base: self.base)
        try await base.mirrored(to: mirror).write(keys.map { ($0, old) })
        let task = Task { [keys, new] in
            try await Cancelling(base: base).mirrored(to: mirror).write(new, key: keys[0])
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        self.base.inject(.fail(.all, with: unreachable))
        #expect(try await base.mirrored(to: mirror).fetch(key: keys[0]) == old)
    }

    @Test func `A mirror that lacks a write is not read by the next program, whatever fails after it`() async throws {
        try await makeEngine().write(keys.map { ($0, old) })
        let engine = makeEngine()
        mirror.inject(.fail([.apply], with: unreachable))
        try await engine.write(new, key: keys[0])
        mirror.clearFaults()
        clock.advance(by: .seconds(10))
        base.inject(.fail(.all, with: unreachable))
        #expect(await code { try await engine.write(new, key: keys[1]) } == .unreachable)
        #expect(await code { try await makeEngine().fetch(key: keys[0]) } == .unreachable)
        base.clearFaults()
        #expect(try await makeEngine().fetch(key: keys[0]) == new)
        #expect(try await makeEngine().refresh() == 1)
        try await expectEqual()
    }

    private static let configuration = {
        var configuration = StorageEngineConformance.Configuration(
            "mirrored, read first", capabilities: .all.subtracting(.persistent)
        ) { workspace in
            let mirror = MemoryStorageEngine(now: workspace.clock.now)
            return MemoryStorageEngine(now: workspace.clock.now).mirrored(to: mirror, readingMirror: .first)
        }
        configuration.largestBatch = 5_000
        configuration.largestValue = 1 << 20
        return configuration
    }()

    @Test(arguments: StorageEngineConformance.checks(for: configuration))
    func `A mirror that is read first keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test func `Items that are written during refreshes are in both`() async throws {
        let engine = makeEngine()
        try await base.write((0..<500).map { (CacheKey("\($0)"), old) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(writer))
                    for number in 0..<100 {
                        let key = CacheKey("\(Int.random(in: 0..<600, using: &generator))")
                        if number.isMultiple(of: 3) {
                            try await engine.remove(key: key)
                        } else {
                            try await engine.write(Data("\(writer) \(number)".utf8), key: key)
                        }
                    }
                }
            }
            group.addTask { for _ in 0..<10 { try await engine.refresh() } }
            try await group.waitForAll()
        }
        #expect(engine.isMirrorComplete)
        try await expectEqual()
    }

    @Test func `A change in the log is found in the mirror`() async throws {
        try await base.write(old, key: keys[0])
        let engine = makeEngine()
        try await engine.refresh()
        let cursor = try await engine.fetchCursor()
        let gate = StorageGate()
        // The first write marks the mirror as incomplete.
        mirror.inject(.hold([.apply], .number(2), at: gate))
        async let write: Void = engine.write(new, key: keys[0])
        await gate.waitForArrivals(1)
        let reading = Task {
            let delta = try await engine.fetchChanges(since: cursor, excluding: nil)
            return (delta?.changes.map(\.key), try await engine.fetch(key: keys[0]))
        }
        for _ in 0..<1_000 { await Task.yield() }
        gate.release()
        try await write
        let (changed, data) = try await reading.value
        #expect(changed == [] || data == new)
    }

    @Test func `A cache in the base does not hide which keys exist`() async throws {
        let cached = MemoryStorageEngine().cached()
        let engine = cached.mirrored(to: mirror, clock: clock).expiring(after: .seconds(60))
        try await engine.write(new, key: keys[0])
        // The cache begins to hold items when it follows the log.
        while cached.statistics.hitCount == 0 { #expect(try await engine.fetch(key: keys[0]) == new) }
        #expect(try await engine.fetchKeys(among: keys) == [keys[0]])
        #expect(await engine.keyExists(keys[0]))
        #expect(try await engine.fetchDates(key: keys[0]) != nil)
    }
}

/// An engine that does nothing for a task that was cancelled.
private struct Cancellable: ForwardingStorageEngine {
    let base: any StorageBackend

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try Task.checkCancellation()
        return try await body()
    }
}

/// An engine whose caller is cancelled during a write.
private struct Cancelling: ForwardingStorageEngine {
    let base: any StorageBackend

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.operation.isWrite { withUnsafeCurrentTask { $0?.cancel() } }
        return try await body()
    }
}
