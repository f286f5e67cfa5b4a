import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What followers of several collections of one database rely on.
@Suite struct StorageDatabaseTests {

    private static let key = CacheKey("a")
    private static func data(_ number: Int) -> Data { Data("\(number)".utf8) }

    private static func pair(
        _ kind: DatabaseKind, _ folder: TemporaryFolder
    ) throws -> (left: any StorageBackend, right: any StorageBackend, database: any StorageDatabase) {
        let open = try kind.open(in: folder)
        let (left, right) = (try open("left"), try open("right"))
        return (left, right, try #require(left.database))
    }

    @discardableResult
    private static func write(
        _ number: Int, _ engines: [any StorageBackend], by origin: StorageOrigin? = nil, basis: [StorageCursor?] = []
    ) async throws -> Bool {
        let batches = engines.enumerated().map { index, engine in
            var batch = StorageBatch([.write(key: key, data: data(number))], origin: origin)
            if index < basis.count { batch.basis = basis[index] }
            return (engine: engine, batch: batch)
        }
        return try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied)
    }

    @Test("Reads at one moment don't find what is written later", arguments: DatabaseKind.allCases)
    func moment(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let (left, right, database) = try Self.pair(kind, folder)
        let (leftLog, rightLog) = (try #require(left.log), try #require(right.log))
        try await Self.write(1, [left, right])
        let cursors = (try await leftLog.fetchCursor(), try await rightLog.fetchCursor())
        let runs = Counter()
        try await database.atOneMoment {
            runs.increment()
            #expect(try await left.fetch(key: Self.key) == Self.data(1))
            // By another task, as writers are, and in this one.
            try await Task.detached { _ = try await Self.write(2, [left, right]) }.value
            try await right.write(Self.data(3), key: CacheKey("b"))
            for (engine, log, cursor) in [(left, leftLog, cursors.0), (right, rightLog, cursors.1)] {
                #expect(try await engine.fetch(key: Self.key) == Self.data(1))
                #expect(try await engine.fetch(keys: [Self.key, CacheKey("b")]).count == 1)
                #expect(try await engine.fetchAll().map(\.data) == [Self.data(1)])
                #expect(try await engine.fetchCount() == 1)
                #expect(try await log.fetchCursor() == cursor)
                let snapshot = try await engine.fetchSnapshot()
                #expect(snapshot.cursor == cursor && snapshot.items.count == 1)
                let delta = try await log.fetchChanges(ChangesRequest(since: cursor, needsItems: true)).value
                #expect(delta?.changes.isEmpty == true)
            }
        }
        #expect(runs.count == 1)
        #expect(try await left.fetch(key: Self.key) == Self.data(2))
        #expect(try await right.fetchCount() == 2)
        let delta = try #require(
            try await rightLog.fetchChanges(ChangesRequest(since: cursors.1, needsItems: true)).value)
        #expect(delta.changes.map(\.key) == [Self.key, CacheKey("b")])
    }

    @Test("A moment ends with its closure, also by an error, and the file can be closed then")
    func endOfMoment() async throws {
        let folder = TemporaryFolder()
        let (left, _, database) = try Self.pair(.sqlite, folder)
        try await left.write(Self.data(1), key: Self.key)
        let escaped = Locked<Task<Data?, any Error>?>(nil)
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        await #expect(throws: CancellationError.self) {
            try await database.atOneMoment {
                // A task that outlives the moment inherits it.
                escaped.withLock {
                    $0 = Task {
                        for await _ in gate { break }
                        return try await left.fetch(key: Self.key)
                    }
                }
                throw CancellationError()
            }
        }
        try await left.write(Self.data(2), key: Self.key)
        opens.yield()
        #expect(try await escaped.withLock { $0 }?.value == Self.data(2))
        try await #require(left as? SQLiteStorageEngine).close()
        await #expect(throws: StorageError.self) { try await database.atOneMoment {} }
    }

    @Test("A store that was loaded before there was a log reads at one moment, too")
    func momentBeforeLog() async throws {
        let folder = TemporaryFolder()
        let (left, right, database) = try Self.pair(.sqlite, folder)
        try await left.write(Self.data(1), key: Self.key)
        let start = try await left.fetchSnapshot().cursor
        let log = try #require(left.log)
        try await database.atOneMoment {
            let delta = try await log.fetchChanges(ChangesRequest(since: start, needsItems: true)).value
            #expect(delta?.changes == [])
        }
        // Another process writes.
        let other = try SQLiteStorageEngine(opening: folder.directory)
        let others = [try other.collection(named: "left"), try other.collection(named: "right")]
        try await Self.write(2, others)
        let deltas = Locked<[StorageDelta?]>([])
        try await database.atOneMoment {
            let delta = try await log.fetchChanges(ChangesRequest(since: start, needsItems: true)).value
            #expect(try await right.fetch(key: Self.key) == Self.data(2))
            deltas.withLock { $0 = [delta] }
        }
        let delta = try #require(deltas.withLock { $0.last } ?? nil)
        #expect(delta.items.map(\.data) == [Self.data(2)])
        // They may be a part of a transaction.
        #expect(delta.changes.allSatisfy { $0.origin?.isShared ?? true })
    }

    @Test(
        "The log says which changes belong to a transaction over several collections", arguments: DatabaseKind.allCases)
    func sharedOrigins(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let (left, right, _) = try Self.pair(kind, folder)
        let log = try #require(left.log)
        let start = try await log.fetchCursor()
        let origin = StorageOrigin()
        _ = try await left.apply(StorageBatch([.write(key: Self.key, data: Self.data(0))], origin: origin))
        try await Self.write(1, [left, right], by: origin)
        try await Self.write(2, [left, right])
        let changes = try #require(try await log.fetchChanges(ChangesRequest(since: start)).value).changes
        #expect(changes.map { $0.origin?.isShared } == [false, true, true])
        #expect(changes.map { $0.origin == origin } == [true, true, false])
        // The origin is excluded, in whichever form its changes are.
        let own = try await log.fetchCursor()
        try await Self.write(3, [left, right], by: origin)
        let none = try #require(try await log.fetchChanges(ChangesRequest(since: own, excluding: origin)).value)
        #expect(none.changes.isEmpty)
        #expect(none.cursor != own)
    }

    @Test("A batch is applied only if nothing was changed since its basis", arguments: DatabaseKind.allCases)
    func basis(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let (left, right, _) = try Self.pair(kind, folder)
        for engines in [[left], [left, right]] {
            let basis = try await [left.fetchSnapshot().cursor, right.fetchSnapshot().cursor]
            #expect(try await Self.write(1, engines, basis: basis))
            #expect(try await !Self.write(2, engines, basis: basis))
            #expect(try await left.fetch(key: Self.key) == Self.data(1))
            // A change of one of them suffices.
            let next = try await [left.fetchSnapshot().cursor, right.fetchSnapshot().cursor]
            try await engines[engines.count - 1].write(Self.data(3), key: CacheKey("b"))
            #expect(try await !Self.write(4, engines, basis: next))
            #expect(try await left.fetch(key: Self.key) == Self.data(1))
        }
    }
}
