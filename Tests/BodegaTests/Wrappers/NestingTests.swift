import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What a wrapper must know about the wrappers inside of it.
@Suite struct NestingTests {
    private let base = MemoryStorageEngine()
    private let keys = (0..<10).map { CacheKey(verbatim: "\($0)") }
    private let old = Data("old".utf8)
    private let new = Data("new".utf8)
    private let unreachable = StorageError(.unreachable, "The engine is gone.")

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    // MARK: Evictions inside

    @Test func `A cache does not return items that an engine inside of it has evicted`() async throws {
        let engines: [any StorageEngine] = [
            MemoryStorageEngine().limited(count: 3).cached(),
            FaultInjectingStorageEngine(MemoryStorageEngine()).limited(count: 3).cached(),
            MemoryStorageEngine().limited(count: 3).prefixed("notes").encrypted(with: Keysets.keyset).cached(),
        ]
        for engine in engines {
            for key in keys {
                try await engine.write(old, key: key)
                #expect(try await engine.fetch(key: key) == old)
            }
            #expect(try await engine.fetchKeys() == Array(keys.suffix(3)))
            for key in keys.dropLast(3) { #expect(try await engine.fetch(key: key) == nil) }
        }
    }

    @Test func `A mirror does not keep items that an engine inside of it has evicted`() async throws {
        let mirror = MemoryStorageEngine()
        let limited = base.limited(count: 3)
        let engine = limited.prefixed("notes").mirrored(to: mirror)
        for key in keys { try await engine.write(old, key: key) }
        #expect(engine.isMirrorComplete)
        #expect(Set(try await mirror.fetchKeys()) == Set(keys.suffix(3) + [CacheKey(verbatim: "emporium.mirror")]))
    }

    @Test func `A mirror does not keep items that lowered limits evict while it reads`() async throws {
        let mirror = MemoryStorageEngine()
        try await base.mirrored(to: mirror).write(keys.map { ($0, old) })
        let engine = base.limited(count: 3).mirrored(to: mirror)
        #expect(try await engine.fetch(key: keys[0]) == nil)
        try await engine.write(new, key: keys[9])
        #expect(engine.isMirrorComplete)
        #expect(Set(try await mirror.fetchKeys()) == Set(keys.suffix(3) + [CacheKey(verbatim: "emporium.mirror")]))
    }

    @Test func `A limited engine knows what another one inside of it has evicted`() async throws {
        let engine = base.limited(count: 3).limited(bytes: 6)
        for key in keys.prefix(4) { try await engine.write(Data(count: 1), key: key) }
        // The first item was evicted, so it is the newest when it is written again.
        try await engine.write(Data(count: 1), key: keys[0])
        try await engine.write(Data(count: 5), key: keys[5])
        #expect(try await engine.fetchKeys() == [keys[0], keys[5]])
    }

    // MARK: Copies inside

    @Test func `A cache does not keep what a mirror inside of it returns`() async throws {
        let faults = FaultInjectingStorageEngine(base)
        let engine = faults.mirrored(to: MemoryStorageEngine(), clock: InstantClock()).cached()
        try await engine.write(old, key: keys[0])
        // The base has the new item, but only the mirror can be read.
        faults.inject(.failAfterwards([.apply], .number(1), with: unreachable))
        faults.inject(.fail([.fetch], with: StorageError(.inputOutput, "Damaged.")))
        #expect(await code { try await engine.write(new, key: keys[0]) } == .unreachable)
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(try await engine.fetch(keys: [keys[0]]).map(\.data) == [old])
        faults.clearFaults()
        try await engine.write(new, key: keys[1])
        #expect(try await engine.fetch(key: keys[0]) == new)
        #expect(try await engine.fetch(keys: [keys[0]]).map(\.data) == [new])
    }

    @Test func `A limited engine does not count what a mirror inside of it returns`() async throws {
        let faults = FaultInjectingStorageEngine(base)
        let engine = faults.mirrored(to: MemoryStorageEngine(), clock: InstantClock()).limited(bytes: 100)
        try await engine.write(Data(count: 10), key: keys[0])
        faults.inject(.failAfterwards([.apply], .number(1), with: unreachable))
        faults.inject(.fail([.fetch], .number(1), with: StorageError(.inputOutput, "Damaged.")))
        #expect(await code { try await engine.write(Data(count: 60), key: keys[0]) } == .unreachable)
        _ = try? await engine.write(Data(count: 10), key: keys[1])
        try await engine.write(Data(count: 70), key: keys[2])
        #expect(try await base.fetchAllData().reduce(0) { $0 + $1.count } <= 100)
    }

    @Test func `Reads of a limited engine are answered by a mirror inside of it from the first call on`() async throws {
        let mirror = MemoryStorageEngine()
        try await base.mirrored(to: mirror).write(keys.map { ($0, old) })
        let engine = FaultInjectingStorageEngine(base, faults: [.fail(.all, with: unreachable)])
            .mirrored(to: mirror).limited(count: 20)
        #expect(try await engine.fetch(key: keys[0]) == old)
        #expect(await code { try await engine.write(new, key: keys[0]) } == .unreachable)
    }

    @Test func `A collection removes all items, even if a mirror inside of it lacks one`() async throws {
        let faults = FaultInjectingStorageEngine(base)
        let engine = faults.mirrored(to: MemoryStorageEngine(), clock: InstantClock()).prefixed("notes")
        try await engine.write(old, key: keys[0])
        faults.inject(.failAfterwards([.apply], .number(1), with: unreachable))
        faults.inject(.fail([.scan], .number(1), with: StorageError(.inputOutput, "Damaged.")))
        #expect(await code { try await engine.write(old, key: keys[1]) } == .unreachable)
        #expect(await code { try await engine.removeAllData() } == .inputOutput)
        try await engine.removeAllData()
        #expect(try await base.fetchCount() == 0)
    }

    @Test func `A condition is not compared with what a mirror returns`() async throws {
        let faults = FaultyConditions(base)
        let engine = faults.mirrored(to: MemoryStorageEngine(), clock: InstantClock()).prefixed("notes")
        try await engine.write(old, key: keys[0])
        faults.fate.withLock { $0 = .failAfterwards }
        #expect(await code { try await engine.write(new, key: keys[0]) } == .unreachable)
        faults.fate.withLock { $0 = .fail }
        let condition = StorageCondition(key: keys[0], data: new)
        #expect(await code { try await engine.apply([.remove(key: keys[0])], if: [condition]) } == .unreachable)
        #expect(try await engine.apply([.remove(key: keys[0])], if: [condition]))
    }

    /// Fails one call.
    private struct FaultyConditions: ForwardingStorageEngine {
        enum Fate { case succeed, fail, failAfterwards }

        let base: any StorageBackend
        let fate = Locked(Fate.succeed)

        init(_ base: any StorageBackend) { self.base = base }

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            let fate = fate.withLock { fate in
                defer { fate = .succeed }
                return fate
            }
            if fate == .fail { throw StorageError(.unreachable, "The engine is gone.") }
            let value = try await body()
            if fate == .failAfterwards { throw StorageError(.unreachable, "The engine is gone.") }
            return value
        }
    }

    @Test func `A cache does not keep what another one inside of it has not yet removed`() async throws {
        // The inner cache follows changes more slowly than the outer one.
        let slow = SlowFeed(base: base)
        let inner = slow.cached()
        let outer = inner.cached()
        try await base.write(old, key: keys[0])
        try await waitUntil("the inner cache is in use") {
            _ = try await inner.fetch(key: keys[0])
            return inner.statistics.count > 0
        }
        try await base.write(old, key: keys[1])
        try await waitUntil("the inner cache follows") { slow.first.withLock { $0 != nil } }
        try await waitUntil("the outer cache is in use") {
            _ = try await outer.fetch(key: CacheKey("absent"))
            try await outer.write(old, key: keys[2])
            return outer.statistics.count > 0
        }
        _ = try await inner.fetch(key: keys[0])
        slow.isHeld.withLock { $0 = true }
        // When the second change has reached the outer cache, the first one has, too.
        try await base.write(new, key: keys[0])
        try await base.remove(key: keys[2])
        try await waitUntil("the outer cache has read the changes") { outer.statistics.count == 0 }
        #expect(try await outer.fetch(key: keys[0]) == old)
        slow.gate.release()
        try await waitUntil("the inner cache has read the changes") { try await inner.fetch(key: keys[0]) == new }
        #expect(try await outer.fetch(key: keys[0]) == new)
    }
}

/// An engine whose first follower receives no changes while they are held.
private struct SlowFeed: ForwardingStorageEngine {
    let base: any StorageBackend
    let gate = StorageGate()
    let isHeld = Locked(false)
    let first = Locked<StorageOrigin?>(nil)

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        guard case .fetchChanges(let request) = call else { return try await body() }
        let first = first.withLock { first in
            first = first ?? request.excluded
            return first
        }
        if request.excluded == first, isHeld.withLock({ $0 }) { try await gate.pass() }
        return try await body()
    }

}
