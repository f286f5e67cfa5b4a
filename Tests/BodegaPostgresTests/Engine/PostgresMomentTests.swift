#if Postgres
import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// Reads of several collections at one moment.
@Suite
struct PostgresMomentTests {

    private static let key = Collections.key
    private static func data(_ number: Int) -> Data { Collections.data(number) }

    private static let index = StorageIndex("n")

    /// With two connections, the write in the closure needs the only one that is not for short reads.
    @Test("Reads of all kinds answer from the moment", arguments: [2, 8])
    func reads(_ maximumConnections: Int) async throws {
        let collections = try await Collections(nil, options: .patient(maximumConnections: maximumConnections))
        let (left, right) = (collections.left, collections.right)
        try await left.createIndex(Self.index)
        let old = Data(#"{"n":1}"#.utf8)
        let new = Data(#"{"n":2}"#.utf8)
        let large = Data(count: 5 << 20)
        let (manyKeys, largeKey) = ((0..<40).map { CacheKey("many \($0)") }, CacheKey("large"))
        for engine in [left, right] {
            try await engine.write(old, key: Self.key)
            try await engine.write(manyKeys.map { ($0, old) })
            try await engine.write(large, key: largeKey)
        }
        let before = try await left.fetchCursor()
        try await left.write(old, key: Self.key)
        let cursors = Locked<[StorageCursor]>([])
        let runs = Counter()
        try await collections.database.atOneMoment {
            runs.increment()
            let now = try await left.fetchCursor()
            cursors.withLock { $0 = [now] }
            // By another task, as writers are, and in this one.
            try await Task.detached {
                for engine in [left, right] { try await engine.apply([.removeAll, .write(key: Self.key, data: new)]) }
            }.value
            try await right.write(new, key: CacheKey("b"))
            #expect(try await Collections.write(9, [left, right], key: CacheKey("c"), if: .some(nil)))
            // A condition is one of now.
            let unmet = StorageCondition(key: Self.key, data: old)
            #expect(try await !left.apply([], if: [unmet]))
            let met = StorageCondition(key: Self.key, data: new)
            #expect(try await left.apply([], if: [met]))
            for engine in [left, right] {
                #expect(try await engine.fetch(key: Self.key) == old)
                #expect(try await engine.fetchDates(key: Self.key) != nil)
                #expect(try await engine.fetch(key: CacheKey("b")) == nil)
                #expect(try await engine.fetch(keys: [Self.key, CacheKey("b")]).map(\.data) == [old])
                #expect(try await engine.fetch(keys: manyKeys).count == 40)
                #expect(try await engine.fetchAll().count == 42)
                #expect(try await engine.fetchAllData().count == 42)
                #expect(try await engine.fetchKeys().first == Self.key)
                #expect(try await engine.fetchCount() == 42)
                #expect(try await engine.fetchSomeKeys(100).count == 42)
                var count = 0
                if let stream = try await engine.fetchStream(key: largeKey) {
                    for try await part in stream { count += part.count }
                }
                #expect(count == large.count)
                let cursor = try await engine.fetchCursor()
                #expect(cursors.withLock { $0.last } == cursor)
                let snapshot = try await engine.fetchSnapshot()
                #expect(snapshot.cursor == cursor && snapshot.items.count == 42)
                for needsItems in [true, false] {
                    let request = ChangesRequest(since: cursor, needsItems: needsItems)
                    #expect(try await engine.fetchChanges(request).value?.changes == [])
                }
            }
            let delta = try await left.fetchChanges(ChangesRequest(since: before, needsItems: true)).value
            #expect(delta?.changes.map(\.key) == [Self.key] && delta?.items.map(\.data) == [old])
            // In the order of an index, and counted by it.
            let range = StorageScan.range(Self.index, from: .start, to: .before(.none), isDescending: false, after: nil)
            for _ in 0..<2 {
                let found = Locked(0)
                let all = StorageScan.all(after: nil)
                let outcome = try await left.scan(ScanRequest([range, all], counting: [range])) {
                    { _, item in
                        if item.data != large { #expect(item.data == old) }
                        found.withLock { $0 += 1 }
                        return true
                    }
                }.value
                #expect(found.withLock { $0 } == 83 && outcome.count == 41)
                #expect(try await left.scan(ScanRequest([], counting: [all])) { { _, _ in true } }.value.count == 42)
                // A receiver that throws does not end the moment.
                struct Refusal: Error {}
                await #expect(throws: Refusal.self) {
                    _ = try await left.scan(ScanRequest([range])) { { _, _ in throw Refusal() } }
                }
                #expect(try await left.fetch(key: Self.key) == old)
            }
            let error = await #expect(throws: StorageError.self) { try await left.removeIndex(Self.index) }
            #expect(error?.code == .invalidArgument)
            // A moment in a moment is the same.
            try await collections.database.atOneMoment {
                let nested = try await right.fetch(key: Self.key)
                #expect(nested == old)
            }
            // Concurrently.
            try await withThrowingTaskGroup(of: Data?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        if number.isMultiple(of: 5) { return try await left.fetchAll().first?.data }
                        return try await left.fetch(key: Self.key)
                    }
                }
                for try await data in group { #expect(data == old) }
            }
        }
        #expect(runs.count == 1)
        #expect(try await left.fetch(key: Self.key) == new)
        #expect(try await right.fetchKeys() == [Self.key, CacheKey("b"), CacheKey("c")])
        let delta = try #require(
            try await right.fetchChanges(ChangesRequest(since: cursors.withLock { $0[0] }, needsItems: true)).value)
        #expect(delta.items.map { $0.key.rawValue }.sorted() == ["a", "b", "c"])
    }

    @Test("A moment ends with its closure, also by an error, and its connection is used again")
    func endOfMoment() async throws {
        let collections = try await Collections(parameters: "&application_name=ended")
        let left = collections.left
        try await left.write(Self.data(1), key: Self.key)
        let escaped = Locked<[Task<Data?, any Error>]>([])
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        await #expect(throws: CancellationError.self) {
            try await collections.database.atOneMoment {
                let task = Task {
                    for await _ in gate { break }
                    return try await left.fetch(key: Self.key)
                }
                escaped.withLock { $0.append(task) }
                throw CancellationError()
            }
        }
        try await left.write(Self.data(2), key: Self.key)
        opens.yield()
        // A task that outlives the moment reads as usual.
        #expect(try await escaped.withLock { $0[0] }.value == Self.data(2))
        for number in 3..<20 {
            try await left.write(Self.data(number), key: Self.key)
            try await collections.database.atOneMoment {
                let data = try await left.fetch(key: Self.key)
                #expect(data == Self.data(number))
            }
        }
        let open = "SELECT state FROM pg_stat_activity WHERE application_name = 'ended' AND query LIKE '%ROLLBACK%'"
        #expect(try await collections.schema.sql(open) == "idle")
        await collections.database.close()
        let error = await #expect(throws: StorageError.self) { try await collections.database.atOneMoment {} }
        #expect(error?.code == .closed)
    }

    @Test("A cancelled task in a moment does not disturb the others, and a cancelled moment stops")
    func cancellation() async throws {
        let collections = try await Collections()
        let left = collections.left
        try await left.write((0..<2_000).map { (CacheKey("\($0)"), Data(count: 1_000)) })
        try await collections.database.atOneMoment {
            for _ in 0..<20 {
                // Its first item cancels the task, before it reads more.
                let task = Task {
                    try await left.scan(ScanRequest()) {
                        { _, _ in
                            withUnsafeCurrentTask { $0?.cancel() }
                            return true
                        }
                    }
                }
                let other = Task { try await left.fetchCount() }
                await #expect(throws: CancellationError.self) { _ = try await task.value }
                #expect(try await other.value == 2_000)
            }
            let count = try await left.fetchCount()
            #expect(count == 2_000)
        }
        // The read waits for a lock, which is released only after the moment has ended.
        let held = try await HeldTransaction(collections.schema)
        let name = collections.schema.name
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(name).emporium_items'::regclass
            """
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (gate, opens) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await collections.database.atOneMoment {
                _ = try await left.fetchCursor()
                begins.yield()
                for await _ in gate { break }
                _ = try await left.fetchAll()
            }
        }
        for await _ in begun { break }
        try await held.run("LOCK TABLE emporium_items IN ACCESS EXCLUSIVE MODE")
        opens.yield()
        try await waitUntil("the read waited") { try await collections.schema.sql(waiting) == "1" }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await held.commit()
        try await collections.database.atOneMoment {
            let count = try await left.fetchCount()
            #expect(count == 2_000)
        }
    }

    @Test("A closure runs again if the server has ended its connection")
    func lostConnection() async throws {
        let collections = try await Collections(parameters: "&application_name=lost")
        let (left, right) = (collections.left, collections.right)
        try await Collections.write(1, [left, right])
        let runs = Counter()
        let database = collections.schema.database
        let end = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE state = 'idle in transaction' AND application_name = 'lost'
            """
        try await collections.database.atOneMoment {
            runs.increment()
            let number = runs.count
            let data = try await left.fetch(key: Self.key)
            #expect(data == Self.data(number))
            if number == 3 { return }
            try await Collections.write(number + 1, [left, right])
            // A read that the server rejects does not end the moment.
            await #expect(throws: StorageError.self) {
                let unknown = StorageScan.range(
                    StorageIndex("unknown"), from: .start, to: .before(.none), isDescending: false, after: nil)
                _ = try await left.scan(ScanRequest([unknown])) { { _, _ in true } }
            }
            #expect(try await right.fetch(key: Self.key) == data)
            #expect(try await database.sql(end) == "t")
            #expect(try await right.fetch(key: Self.key) == data)
        }
        #expect(runs.count == 3)
    }

    @Test("More moments than connections wait for each other, and each is consistent")
    func manyMoments() async throws {
        let collections = try await Collections(nil, options: .patient(maximumConnections: 2))
        try await Collections.write(0, collections.engines)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    for _ in 0..<10 {
                        try await collections.database.atOneMoment {
                            let first = try await collections.left.fetch(key: Self.key)
                            let delta = try await collections.right.fetchSnapshot().items
                            #expect(delta.map(\.data) == [first])
                        }
                    }
                }
            }
            group.addTask { for number in 1..<100 { try await Collections.write(number, collections.engines) } }
            try await group.waitForAll()
        }
    }

    @Test("A snapshot and the changes after its cursor, read at moments, are all changes")
    func following() async throws {
        let collections = try await Collections()
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    for number in 0..<60 {
                        try await Collections.write(number, collections.engines, key: CacheKey("\(writer)/\(number)"))
                    }
                }
            }
            group.addTask {
                var cursors: [StorageCursor] = []
                var found: [Set<CacheKey>] = [[], []]
                while true {
                    let isLast = isOver.withLock { $0 }
                    let read = Locked<(cursors: [StorageCursor], keys: [Set<CacheKey>])>(([], []))
                    try await collections.database.atOneMoment { [cursors] in
                        read.withLock { $0 = ([], []) }
                        for (index, engine) in collections.engines.enumerated() {
                            var (keys, cursor): (Set<CacheKey>, StorageCursor)
                            if cursors.isEmpty {
                                let snapshot = try await engine.fetchSnapshot()
                                (keys, cursor) = (Set(snapshot.items.map(\.key)), snapshot.cursor)
                            } else {
                                let request = ChangesRequest(since: cursors[index], needsItems: true)
                                let delta = try #require(try await engine.fetchChanges(request).value)
                                (keys, cursor) = (Set(delta.items.map(\.key)), delta.cursor)
                            }
                            read.withLock { [keys, cursor] in
                                $0.cursors.append(cursor)
                                $0.keys.append(keys)
                            }
                        }
                    }
                    let result = read.withLock { $0 }
                    cursors = result.cursors
                    for index in 0..<2 { found[index].formUnion(result.keys[index]) }
                    // Both halves of each transaction.
                    #expect(found[0] == found[1])
                    if isLast { break }
                    if found[0].count == 180 { isOver.withLock { $0 = true } }
                }
                #expect(found[0].count == 180)
            }
            try await group.waitForAll()
        }
    }

    @Test("A standby reads at one moment, with a cursor from which its changes can be followed")
    func standby() async throws {
        let primary = try await PostgresServer.launch()
        let writer = try await PostgresDatabase(connecting: primary.url(), options: .patient())
        let writing = [try await writer.collection(named: "left"), try await writer.collection(named: "right")]
        try await Collections.write(1, writing)
        let standby = try await primary.addStandby(isSynchronous: false)
        let reader = try await PostgresDatabase(connecting: standby.url(), options: .patient())
        let engines = [try await reader.collection(named: "left"), try await reader.collection(named: "right")]
        let cursors = Locked<[StorageCursor]>([])
        try await reader.atOneMoment {
            for engine in engines {
                let snapshot = try await engine.fetchSnapshot()
                #expect(snapshot.items.map(\.data) == [Self.data(1)])
                cursors.withLock { $0.append(snapshot.cursor) }
            }
        }
        try await Collections.write(2, writing)
        for (engine, cursor) in zip(engines, cursors.withLock { $0 }) {
            try await waitUntil("the standby had the change") {
                let read = Locked<StorageDelta?>(nil)
                try await reader.atOneMoment {
                    let delta = try await engine.fetchChanges(ChangesRequest(since: cursor, needsItems: true)).value
                    read.withLock { $0 = delta }
                }
                return try #require(read.withLock { $0 }).items.map(\.data) == [Self.data(2)]
            }
        }
        writer.disconnect()
        reader.disconnect()
    }

    @Test("A user who may only read, and a log from a dump")
    func otherPlaces() async throws {
        let collections = try await Collections()
        try await Collections.write(1, collections.engines)
        let user = "reader_\(collections.schema.name)"
        try await collections.schema.sql(
            """
            CREATE ROLE \(user) LOGIN PASSWORD 'pa55';
            GRANT USAGE ON SCHEMA \(collections.schema.name) TO \(user);
            GRANT SELECT ON ALL TABLES IN SCHEMA \(collections.schema.name) TO \(user);
            """)
        let rest = collections.schema.url.split(separator: "@").dropFirst().joined(separator: "@")
        let reader = try await PostgresDatabase(connecting: "postgresql://\(user):pa55@\(rest)", options: .patient())
        let left = try await reader.collection(named: "left")
        let right = try await reader.collection(named: "right")
        // A transaction that only reads.
        let read = try await left.transaction { transaction in
            let storages = [ObjectStorage<Int>(storage: left), ObjectStorage<Int>(storage: right)]
            var sum = 0
            for storage in storages { sum += try await transaction.object(forKey: Self.key, in: storage) ?? 0 }
            let none = try await transaction.object(forKey: CacheKey("none"), in: storages[0])
            return sum + (none ?? 0)
        }
        #expect(read == 2)
        let later = try await PostgresDatabase(connecting: collections.schema.url, options: .patient())
        let laterLeft = try await later.collection(named: "left")
        // Now as in a database that was loaded from a dump.
        try await collections.schema.sql(
            """
            UPDATE emporium_meta SET value = value WHERE name = 'home';
            UPDATE emporium_changes SET transaction = (transaction::text::bigint + 1000000)::text::xid8;
            """)
        try await reader.atOneMoment {
            let data = try await left.fetch(key: Self.key)
            #expect(data == Self.data(1))
            let error = await #expect(throws: StorageError.self) { _ = try await left.fetchCursor() }
            #expect(error?.code == .readOnly)
            #expect(try await left.fetch(keys: [Self.key]).count == 1)
        }
        try await later.atOneMoment {
            let cursor = try await laterLeft.fetchCursor()
            #expect(try await laterLeft.fetchSnapshot().cursor == cursor)
        }
        try await reader.atOneMoment { _ = try await left.fetchCursor() }
    }
}
#endif
