import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Mirrors that lose items on their own, and mirrors of a base that others change. The base is the oracle: each read
/// returns what the base has, or fails as the base does.
@Suite struct MirrorLossTests {
    private let memory = MemoryStorageEngine()
    private let base: AwayEngine
    private let copy = MemoryStorageEngine()
    private let clock = ManualClock()
    private let keys = (0..<30).map { CacheKey(verbatim: "\($0)") }

    init() { base = AwayEngine(base: memory) }

    /// A mirror that loses items.
    enum Lossy: String, CaseIterable { case limited, limitedBytes, expiring, limitedInside, cachedOutside }

    private func mirror(_ lossy: Lossy) -> any StorageBackend {
        switch lossy {
        case .limited: copy.limited(count: 7)
        case .limitedBytes: copy.limited(bytes: 100)
        case .expiring: copy.expiring(after: .seconds(10), now: clock.now)
        case .limitedInside: copy.limited(count: 7).prefixed("mirror").encrypted(with: Keysets.keyset)
        case .cachedOutside: copy.limited(count: 7).cached(count: 5)
        }
    }

    private struct Mirrored {
        let engine: any StorageBackend
        let refresh: @Sendable () async throws -> Int
        let repair: @Sendable () async throws -> Int
        let isComplete: @Sendable () -> Bool
    }

    private func mirrored(_ lossy: Lossy, _ reading: MirrorReading = .first) -> Mirrored {
        let engine = base.mirrored(to: mirror(lossy), readingMirror: reading, clock: InstantClock())
        return Mirrored(
            engine: engine, refresh: { try await engine.refresh() },
            repair: { try await engine.repair(comparingAll: true) }, isComplete: { engine.isMirrorComplete })
    }

    /// Compares all reads with those of the base.
    private func compare(_ engine: any StorageEngine, _ comment: Comment) async throws {
        for key in keys + [CacheKey(verbatim: "absent")] {
            #expect(try await engine.fetch(key: key) == memory.fetch(key: key), comment)
            #expect(try await (engine.fetchDates(key: key) == nil) == (memory.fetchDates(key: key) == nil), comment)
            let bytes = try await engine.fetchStream(key: key)?.data()
            #expect(try await bytes == memory.fetch(key: key), comment)
        }
        let (all, expected) = (try await engine.fetchAll(), try await memory.fetchAll())
        #expect(Set(all.map(Item.init)) == Set(expected.map(Item.init)), comment)
        #expect(try await Set(engine.fetchAllData()) == Set(memory.fetchAllData()), comment)
        #expect(try await Set(engine.fetchKeys()) == Set(memory.fetchKeys()), comment)
        #expect(try await engine.fetchCount() == memory.fetchCount(), comment)
        #expect(try await engine.fetchKeys(among: keys) == memory.fetchKeys(among: keys), comment)
        let (some, expectedSome) = (try await engine.fetch(keys: keys), try await memory.fetch(keys: keys))
        #expect(some.map(Item.init) == expectedSome.map(Item.init), comment)
    }

    @Test(arguments: Lossy.allCases) func `The base answers for what a mirror has lost`(_ lossy: Lossy) async throws {
        var mirrored = mirrored(lossy)
        for (number, key) in keys.enumerated() {
            try await mirrored.engine.write(Data("item \(number)".utf8), key: key)
            clock.advance(by: 1)
            if number % 5 == 0 { try await compare(mirrored.engine, "after write \(number)") }
            // Another program that opens both.
            if number % 7 == 0 { mirrored = self.mirrored(lossy) }
        }
        #expect(!mirrored.isComplete())
        try await compare(mirrored.engine, "at the end")
        try await mirrored.engine.remove(key: keys[3])
        try await mirrored.engine.write(keys.map { ($0, Data("new".utf8)) })
        try await compare(mirrored.engine, "after a batch")
        for operation in ["refresh", "repair"] {
            try await memory.write(Data(operation.utf8), key: keys[5])
            _ = operation == "refresh" ? try await mirrored.refresh() : try await mirrored.repair()
            try await compare(mirrored.engine, "after \(operation)")
            #expect(!mirrored.isComplete())
            try await compare(self.mirrored(lossy).engine, "after \(operation), opened again")
        }
        clock.advance(by: 100)
        try await compare(mirrored.engine, "long afterwards")
        try await compare(self.mirrored(lossy).engine, "long afterwards, opened again")
    }

    @Test(arguments: Lossy.allCases)
    func `While the base is away, a mirror that has lost items says no more than it knows`(
        _ lossy: Lossy
    ) async throws {
        let mirrored = mirrored(lossy, .whenBaseFails)
        for key in keys { try await mirrored.engine.write(Data("item \(key.rawValue)".utf8), key: key) }
        clock.advance(by: 5)
        base.isAway.withLock { $0 = true }
        func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
            (await #expect(throws: StorageError.self) { _ = try await body() })?.code
        }
        let engine = mirrored.engine
        #expect(try await engine.fetch(key: keys[29]) == Data("item 29".utf8))
        #expect(await code { try await engine.fetchAll() } == .unreachable)
        #expect(await code { try await engine.fetchKeys() } == .unreachable)
        #expect(await code { try await engine.fetchCount() } == .unreachable)
        #expect(await code { try await engine.fetch(key: CacheKey(verbatim: "absent")) } == .unreachable)
        clock.advance(by: 5)
        let first = keys[0]
        #expect(await code { try await engine.fetch(key: first) } == .unreachable)
        #expect(await code { try await engine.fetch(keys: keys) } == .unreachable)
    }

    @Test func `A mirror whose limit is never reached is complete, and answers alone`() async throws {
        let engine = base.mirrored(to: copy.limited(count: 100), readingMirror: .first, clock: InstantClock())
        try await engine.write(keys.map { ($0, Data($0.rawValue.utf8)) })
        #expect(engine.isMirrorComplete)
        base.isAway.withLock { $0 = true }
        try await compare(engine, "without the base")
        let next = base.mirrored(to: copy.limited(count: 100), readingMirror: .first, clock: InstantClock())
        try await compare(next, "opened again without the base")
        #expect(next.isMirrorComplete)
        // The limit is lowered: what the mirror loses then is noticed, too.
        base.isAway.withLock { $0 = false }
        let lowered = base.mirrored(to: copy.limited(count: 5), readingMirror: .first, clock: InstantClock())
        try await compare(lowered, "with a lower limit")
        #expect(!lowered.isMirrorComplete)
        try await compare(base.mirrored(to: copy, readingMirror: .first, clock: InstantClock()), "without a limit")
    }

    @Test func `The evictions of a mirror are not those of the engine`() async throws {
        let engine = base.mirrored(to: copy.limited(count: 3)).cached()
        try await engine.write(keys.map { ($0, Data()) })
        #expect(engine.statistics.count == 30)
        let outer = memory.limited(count: 20).mirrored(to: copy.limited(count: 3)).limited(count: 30)
        for key in keys { try await outer.write(Data("new".utf8), key: key) }
        #expect(try await Set(outer.fetchKeys()) == Set(keys.suffix(20)))
    }

    // MARK: Changes by others

    @Test func `A conditional change of an item that another program has changed ends`() async throws {
        let engine = base.mirrored(to: copy, readingMirror: .first, clock: InstantClock())
        try await engine.write(Data("1".utf8), key: keys[0])
        try await memory.write(Data("7".utf8), key: keys[0])
        var attempts = 0
        while attempts < 10 {
            attempts += 1
            let old = try await engine.fetch(key: keys[0])
            let number = old.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            let write = StorageOperation.write(key: keys[0], data: Data("\(number + 1)".utf8))
            if try await engine.apply([write], if: [StorageCondition(key: keys[0], data: old)]) { break }
        }
        #expect(attempts == 2)
        #expect(try await memory.fetch(key: keys[0]) == Data("8".utf8))
        #expect(try await engine.fetch(key: keys[0]) == Data("8".utf8))
        #expect(engine.isMirrorComplete)
        // The item was removed by the other program.
        try await memory.remove(key: keys[0])
        #expect(try await !engine.apply([.removeAll], if: [StorageCondition(key: keys[0], data: Data("8".utf8))]))
        #expect(try await engine.fetch(key: keys[0]) == nil)
    }

    @Test func `A conditional change ends, too, when the outdated copy is inside of another wrapper`() async throws {
        let keyset = Keysets.keyset
        let mirrored = base.mirrored(to: copy, readingMirror: .first, clock: InstantClock())
        let engines: [(any StorageBackend, any StorageBackend)] = [
            (mirrored.encrypted(with: keyset), base.encrypted(with: keyset)),
            (
                mirrored.prefixed("notes").expiring(after: .seconds(60)),
                base.prefixed("notes").expiring(after: .seconds(60))
            ),
            (base.cached().encrypted(with: keyset), base.encrypted(with: keyset)),
        ]
        for (engine, other) in engines {
            for stored in [Data("other".utf8), nil] {
                try await engine.write(Data("old".utf8), key: keys[0])
                #expect(try await engine.fetch(key: keys[0]) == Data("old".utf8))
                // Another program, which does not know the copy.
                try await other.apply([stored.map { .write(key: keys[0], data: $0) } ?? .remove(key: keys[0])])
                var attempts = 0
                while attempts < 10 {
                    attempts += 1
                    let condition = StorageCondition(key: keys[0], data: try await engine.fetch(key: keys[0]))
                    if try await engine.apply([.write(key: keys[0], data: Data("new".utf8))], if: [condition]) { break }
                }
                #expect(attempts == 2)
                #expect(try await other.fetch(key: keys[0]) == Data("new".utf8))
                try await engine.removeAllData()
            }
        }
    }

    @Test func `If the mirror can't be refreshed after a refused change, the base is read`() async throws {
        let copy = FaultInjectingStorageEngine(copy)
        let engine = base.mirrored(to: copy, readingMirror: .first, clock: InstantClock())
        try await engine.write(Data("1".utf8), key: keys[0])
        try await memory.write(Data("7".utf8), key: keys[0])
        copy.inject(.fail(.writes, with: StorageError(.inputOutput, "The mirror is full.")))
        let condition = StorageCondition(key: keys[0], data: Data("1".utf8))
        #expect(try await !engine.apply([.remove(key: keys[0])], if: [condition]))
        #expect(try await engine.fetch(key: keys[0]) == Data("7".utf8))
        copy.clearFaults()
        try await engine.write(Data("2".utf8), key: keys[1])
        #expect(engine.isMirrorComplete)
        #expect(try await copy.fetch(key: keys[0]) == Data("7".utf8))
    }

    @Test func `Changes that are refused again and again end with an error`() async throws {
        let (refusals, keyset) = (Locked(0), EncryptionKeyset())
        let refusing = RefusingEngine(base: memory, refusals: refusals)
        try await memory.expiring(after: .seconds(-1)).write(Data(), key: keys[0])
        func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
            (await #expect(throws: StorageError.self) { _ = try await body() })?.code
        }
        let conflict = StorageError.Code(rawValue: "conflict")
        #expect(await code { try await refusing.expiring(after: .seconds(1)).removeExpired() } == conflict)
        try await memory.removeAllData()
        let encrypted = refusing.encrypted(with: keyset)
        try await encrypted.write([(keys[0], Data()), (keys[1], Data())])
        #expect(await code { try await encrypted.apply([.removeAll], if: []) } == conflict)
        var rotated = keyset
        try rotated.makePrimary(rotated.addKey())
        encrypted.use(rotated)
        #expect(await code { try await encrypted.reencrypt() } == conflict)
        #expect(refusals.withLock { $0 } <= 3_001)
    }
}

/// An engine that can be away.
private struct AwayEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let isAway = Locked(false)

    var log: (any StorageLog)? { nil }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if isAway.withLock({ $0 }) { throw StorageError(.unreachable, "The base is away.") }
        return try await body()
    }
}

/// Refuses all conditional batches, as if another writer were always faster. After 100,000 it fails.
private struct RefusingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let refusals: Locked<Int>

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await body()
    }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        guard batch.conditions != nil else { return try await base.apply(batch) }
        let count = refusals.withLock { count in
            count += 1
            return count
        }
        if count > 100_000 { throw StorageError(.inputOutput, "Called without end.") }
        return StorageAnswer(BatchOutcome(wasApplied: false))
    }
}
