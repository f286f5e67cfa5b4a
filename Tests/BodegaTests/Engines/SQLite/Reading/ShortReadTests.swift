import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Reads that begin on their caller's thread.
@Suite struct ShortReadTests {

    /// A file that is too large to be read on the caller's thread because it is small.
    private static func engine(in folder: TemporaryFolder) async throws -> SQLiteStorageEngine {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let value = Data(repeating: 0x20, count: 1_000)
        try await engine.write((0..<300).map { (CacheKey("\($0)"), value) })
        return engine
    }

    /// The items that scans have received, and on which threads.
    private final class Receiver: Sendable {
        struct State: Sendable {
            var keys: [String] = []
            var begins = 0
            /// The number of items on other threads than the caller's.
            var elsewhere = 0
        }

        let state = Locked(State())
        /// The thread that begins to read: a task changes its thread only where it suspends.
        private let caller = UInt(bitPattern: pthread_self().hashValue)

        func begin() -> StorageReceiver {
            state.withLock { state in
                state.begins += 1
                state.keys = []
                state.elsewhere = 0
            }
            return { [state, caller] _, item in
                let isElsewhere = UInt(bitPattern: pthread_self().hashValue) != caller
                return state.withLock { state in
                    state.keys.append(item.key.rawValue)
                    if isElsewhere { state.elsewhere += 1 }
                    return state.keys.count < 200
                }
            }
        }
    }

    private static let expected = (0..<200).map(String.init)

    private static func scan(
        _ engine: SQLiteStorageEngine, isShort: Bool, for time: Duration, _ receiver: Receiver
    ) async throws -> Receiver.State {
        try await SQLiteFile.$shortTime.withValue(time) {
            _ = try await engine.scan(ScanRequest(isShort: isShort)) { receiver.begin() }
        }
        return receiver.state.withLock { $0 }
    }

    @Test("A short scan stays on its caller's thread, another one leaves it", arguments: [false, true])
    func threads(isAtMoment: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = try await Self.engine(in: folder)
        let check = { @Sendable in
            let short = try await Self.scan(engine, isShort: true, for: .seconds(600), Receiver())
            #expect(short.keys == Self.expected && short.begins == 1 && short.elsewhere == 0)
            let long = try await Self.scan(engine, isShort: false, for: .seconds(600), Receiver())
            #expect(long.keys == Self.expected && long.begins == 1 && long.elsewhere == 200)
            let late = try await Self.scan(engine, isShort: true, for: .zero, Receiver())
            #expect(late.keys == Self.expected && late.elsewhere == 200)
        }
        if isAtMoment { try await engine.database?.atOneMoment { try await check() } } else { try await check() }
    }

    @Test("A scan that takes longer than a short one begins again on another thread", arguments: [false, true])
    func overdue(isAtMoment: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = try await Self.engine(in: folder)
        let receivers = Locked<[Receiver]>([])
        let scan = { @Sendable in
            let receiver = Receiver()
            receivers.withLock { $0.append(receiver) }
            try await SQLiteFile.$shortTime.withValue(.milliseconds(20)) {
                _ = try await engine.scan(ScanRequest(isShort: true)) {
                    let receive = receiver.begin()
                    let start = ContinuousClock.now
                    return { number, item in
                        // A receiver that decodes large objects.
                        if item.key.rawValue == "100" { while ContinuousClock.now < start + .milliseconds(21) {} }
                        return try receive(number, item)
                    }
                }
            }
        }
        if isAtMoment { try await engine.database?.atOneMoment { try await scan() } } else { try await scan() }
        let state = try #require(receivers.withLock { $0.first }).state.withLock { $0 }
        #expect(state.keys == Self.expected)
        #expect(state.begins == 2 && state.elsewhere == 200)
    }

    @Test("Several keys are read in the order of the keys, within the time and beyond", arguments: [0, 600])
    func keys(seconds: Int) async throws {
        let folder = TemporaryFolder()
        let engine = try await Self.engine(in: folder)
        let keys = (0..<200).map { CacheKey("\(299 - $0)") } + [CacheKey("missing")]
        try await SQLiteFile.$shortTime.withValue(.seconds(seconds)) {
            for fields: StorageFields in [.data, [], [.data, .dates, .place]] {
                let items = try await engine.fetch(FetchRequest(keys, fields)).value
                #expect(items.map(\.key) == Array(keys.dropLast()))
                if fields.contains(.data) { #expect(items.allSatisfy { $0.data.count == 1_000 }) }
            }
        }
    }

    @Test("A receiver's error and a cancellation end a short scan")
    func failures() async throws {
        struct Failure: Error {}
        let folder = TemporaryFolder()
        let engine = try await Self.engine(in: folder)
        await SQLiteFile.$shortTime.withValue(.seconds(600)) {
            let begins = Counter()
            await #expect(throws: Failure.self) {
                _ = try await engine.scan(ScanRequest(isShort: true)) {
                    begins.increment()
                    return { _, _ in throw Failure() }
                }
            }
            #expect(begins.count == 1)
            let task = Task {
                _ = try await engine.scan(ScanRequest(isShort: true)) {
                    { _, item in
                        withUnsafeCurrentTask { $0?.cancel() }
                        return true
                    }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("Moments leave a place for a reader that blocks its thread")
    func placeForOthers() async throws {
        let folder = TemporaryFolder()
        let engine = try await Self.engine(in: folder)
        let database = try #require(engine.database)
        let (begun, ended) = (Counter(), Counter())
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let gates = AsyncStreams(gate)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await database.atOneMoment {
                        begun.increment()
                        await gates.wait()
                        let items = try await engine.fetch(keys: Self.expected.map { CacheKey($0) })
                        #expect(items.count == 200)
                    }
                    ended.increment()
                }
            }
            while begun.count < 4 { await Task.yield() }
            let count = try engine.core.blockingReadOne { db in try engine.table.count(in: db) }
            #expect(count == 300)
            #expect(begun.count == 4 && ended.count == 0)
            opens.finish()
            try await group.waitForAll()
        }
        #expect(ended.count == 20)
    }

    /// Lets any number of tasks wait for the end of a stream.
    private final class AsyncStreams: Sendable {
        private let end: Task<Void, Never>

        init(_ stream: AsyncStream<Void>) { end = Task { for await _ in stream {} } }

        func wait() async { await end.value }
    }
}
