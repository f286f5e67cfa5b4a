import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

/// What each wrapper adds to its base.
struct WrapperTests {
    private let base = MemoryStorageEngine()
    private let key = CacheKey("a")

    // MARK: Read-only

    @Test func `A read-only engine reads, and refuses all writes`() async throws {
        try await base.write(Data("1".utf8), key: key)
        let engine = base.readOnly()
        let item = StorageItem(key: key, data: Data(), dates: StorageDates(createdAt: Date(), updatedAt: Date()))
        let key = key
        let writes: [@Sendable () async throws -> Void] = [
            { try await engine.write(Data(), key: key) }, { try await engine.write([(key, Data())]) },
            { try await engine.write(items: [item]) }, { try await engine.remove(key: key) },
            { try await engine.remove(keys: [key]) }, { try await engine.removeAllData() },
            { try await engine.apply([.removeAll]) }, { _ = try await engine.apply([.removeAll], if: []) },
        ]
        for write in writes {
            let error = await #expect(throws: StorageError.self) { try await write() }
            #expect(error?.code == .readOnly)
        }
        #expect(try await engine.fetchAllData() == [Data("1".utf8)])
        #expect(await engine.read(key: key) == Data("1".utf8))
        let cursor = try await engine.fetchCursor()
        try await base.write(Data("2".utf8), key: key)
        #expect(try await engine.fetchChanges(since: cursor, excluding: nil)?.changes.map(\.key) == [key])
    }

    // MARK: Logged

    @Test func `Each call is logged with its operation, key and size, and a failure as an error`() async throws {
        let lines = Locked<[String]>([])
        let logger = Logger { level, metadata in
            let values = metadata.filter { !["milliseconds", "error"].contains($0.key) }
            #expect(metadata["milliseconds"].flatMap { Double("\($0)") }.map { $0 >= 0 } == true)
            let text = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            lines.withLock { $0.append("\(level): \(text)") }
        }
        let faulty = FaultInjectingStorageEngine(base)
        let engine = faulty.logged(by: logger, level: .info)
        try await engine.write(Data("secret".utf8), key: key)
        _ = try await engine.fetch(key: key)
        try await engine.write([(CacheKey("b"), Data(count: 10)), (CacheKey("c"), Data(count: 20))])
        _ = await engine.readAllDataAndKeys()
        faulty.inject(.fail([.fetch], with: CancellationError()))
        _ = try? await engine.fetch(key: key)
        faulty.clearFaults()
        faulty.inject(.fail([.scan]))
        _ = await engine.allKeys()
        #expect(
            lines.withLock { $0 } == [
                #"info: bytes=6 key="a" operation=apply"#,
                #"info: bytes=6 key="a" operation=fetch"#,
                #"info: bytes=30 count=2 operation=apply"#,
                #"info: bytes=36 operation=scan"#,
                #"info: key="a" operation=fetch"#,
                #"error: operation=scan"#,
            ])
    }

    // MARK: Retrying

    private let temporary = StorageError(.locked, "Locked.")

    @Test func `A call is repeated after growing random delays until it succeeds`() async throws {
        let (clock, faulty) = (InstantClock(), FaultInjectingStorageEngine(base))
        var policy = StorageRetryPolicy()
        policy.maximumAttempts = 9
        let engine = faulty.retrying(policy, clock: clock)
        faulty.inject(.fail([.apply], .every, with: temporary))
        await #expect(throws: StorageError.self) { try await engine.write(Data(), key: key) }
        let delays = clock.delays.withLock { $0 }
        let limits = [50, 100, 200, 400, 800, 1600, 2000, 2000].map { Duration.milliseconds($0) }
        #expect(delays.count == limits.count)
        for (delay, limit) in zip(delays, limits) { #expect(delay >= .zero && delay <= limit) }
        #expect(Set(delays).count > 1)

        faulty.clearFaults()
        for attempt in 1...3 { faulty.inject(.fail([.fetch], .number(attempt), with: temporary)) }
        #expect(try await engine.fetch(key: key) == nil)
        #expect(clock.delays.withLock { $0.count } == limits.count + 3)
    }

    @Test func `Errors that stay, and calls after the time limit, are not repeated`() async throws {
        let (clock, faulty) = (InstantClock(), FaultInjectingStorageEngine(base))
        let engine = faulty.retrying(clock: clock)
        faulty.inject(.fail([.fetch], with: StorageError(.damaged, "Damaged.")))
        await #expect(throws: StorageError.self) { try await engine.fetch(key: key) }
        #expect(clock.delays.withLock { $0.isEmpty })

        var policy = StorageRetryPolicy()
        policy.maximumAttempts = .max
        policy.timeLimit = .seconds(10)
        faulty.inject(.fail([.apply], with: temporary))
        let limited = faulty.retrying(policy, clock: clock)
        await #expect(throws: StorageError.self) { try await limited.write(Data(), key: key) }
        let total = clock.delays.withLock { $0.reduce(.zero, +) }
        #expect(total <= .seconds(10) && total >= .seconds(5))
    }

    @Test func `A call waits as long as the server asks, and not beyond the time limit`() async throws {
        let (clock, faulty) = (InstantClock(), FaultInjectingStorageEngine(base))
        var busy = StorageError(.unreachable, "Too many requests.")
        busy.retryAfter = .seconds(20)
        let engine = faulty.retrying(clock: clock)
        faulty.inject(.fail([.fetch], .number(1), with: busy))
        #expect(try await engine.fetch(key: key) == nil)
        let delays = clock.delays.withLock { $0 }
        #expect(delays.count == 1 && delays[0] >= .seconds(20) && delays[0] <= .milliseconds(20_050))

        // A server that is away for an hour is not waited for, and not called again too early.
        busy.retryAfter = .seconds(3_600)
        faulty.inject(.fail([.apply], with: busy))
        let error = await #expect(throws: StorageError.self) { try await engine.write(Data(), key: key) }
        #expect(error?.retryAfter == .seconds(3_600))
        #expect(clock.delays.withLock { $0.count } == 1)
    }

    @Test func `With the defaults, a call is retried that each time ends with the time limit of an HTTP engine`()
        async throws
    {
        let clock = InstantClock()
        let slow = SlowEngine(base: base, clock: clock, duration: .seconds(30), calls: Locked(0))
        let error = await #expect(throws: StorageError.self) { try await slow.retrying(clock: clock).fetch(key: key) }
        #expect(error?.code == .timedOut)
        #expect(slow.calls.withLock { $0 } >= 3)
    }

    /// An engine whose calls end with their time limit.
    private struct SlowEngine: ForwardingStorageEngine {
        let base: any StorageBackend
        let clock: InstantClock
        let duration: Duration
        let calls: Locked<Int>

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            calls.withLock { $0 += 1 }
            clock.advance(by: duration)
            throw StorageError(.timedOut, "No answer.")
        }
    }

    /// Applies conditional batches and loses their results.
    private struct LosingEngine: ForwardingStorageEngine {
        let base: any StorageBackend
        let code: StorageError.Code

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            _ = try await body()
            throw StorageError(code, "The result was lost.")
        }
    }

    @Test func `A batch that removes an item and writes it again is not applied twice`() async throws {
        let faulty = FaultInjectingStorageEngine(MemoryStorageEngine())
        let engine = faulty.retrying(clock: InstantClock())
        try await engine.write(Data("old".utf8), key: CacheKey("a"))
        faulty.inject(.failAfterwards(.all, .number(1), with: StorageError(.timedOut, "No answer.")))
        let error = await #expect(throws: StorageError.self) {
            try await engine.apply([
                .remove(key: CacheKey("a")), .write(key: CacheKey("a"), data: Data()),
                .write(key: CacheKey("new"), data: Data()),
            ])
        }
        #expect(error?.code == .timedOut)
        #expect(try await engine.fetchKeys() == [CacheKey("a"), CacheKey("new")])
    }

    @Test func `A conditional batch that may have been applied is not repeated`() async throws {
        let clock = InstantClock()
        let write = StorageOperation.write(key: key, data: Data("1".utf8))
        for code in [StorageError.Code.timedOut, .unreachable] {
            try await base.removeAllData()
            let engine = LosingEngine(base: base, code: code).retrying(clock: clock)
            let condition = StorageCondition(key: key, data: nil)
            let error = await #expect(throws: StorageError.self) { try await engine.apply([write], if: [condition]) }
            #expect(error?.code == code)
        }
        #expect(clock.delays.withLock { $0.isEmpty })
    }

    @Test func `A cancelled call throws the error of its last attempt`() async throws {
        let faulty = FaultInjectingStorageEngine(base, faults: [.fail([.fetch], with: temporary)])
        let (engine, key) = (faulty.retrying(clock: InstantClock()), key)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await engine.fetch(key: key)
        }
        let error = await #expect(throws: StorageError.self) { try await task.value }
        #expect(error?.code == .locked)
    }

    // MARK: Prefixed

    @Test func `Collections in one engine share no items, even with similar names`() async throws {
        let names = ["", "a", "a/b", "a%2Fb", "ab", "b", "/", "%", "e", "e\u{301}", "é"]
        let keys = ["", "x", "/x", "b/x", "\u{301}x", "a/x"].flatMap { [CacheKey($0), CacheKey(verbatim: $0)] }
        for (number, name) in names.enumerated() {
            try await base.prefixed(name).write(keys.map { ($0, Data("\(number) \($0)".utf8)) })
        }
        #expect(try await base.fetchCount() == names.count * keys.count)
        for (number, name) in names.enumerated() {
            let items = try await base.prefixed(name).fetchAll()
            let data = keys.map { Data("\(number) \($0)".utf8) }
            #expect(items.map(\.key) == keys)
            #expect(items.map(\.data) == data)
        }
        try await base.prefixed("a").removeAllData()
        #expect(try await base.prefixed("a").fetchCount() == 0)
        #expect(try await base.fetchCount() == (names.count - 1) * keys.count)
    }
}
