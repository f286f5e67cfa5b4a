#if Postgres
import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import BodegaPostgres

/// Transactions over several collections of a PostgreSQL database.
@Suite
struct PostgresTransactionTests {

    struct Account: Codable, Sendable, Equatable {
        var units: Int
    }

    private struct Refusal: Error {}

    private static let key = Collections.key
    private static let isolations = ["", "%20-cdefault_transaction_isolation%3Dserializable"]

    /// Wrappers that take part, each around a collection.
    private static func wrapped(_ engine: any StorageBackend, _ name: String) throws -> any StorageBackend {
        let keyset = EncryptionKeyset()
        let logger = Logger(label: "tests")
        return switch name {
        case "cached": engine.cached(count: 100)
        case "prefixed": engine.prefixed("accounts")
        case "encrypted": engine.encrypted(with: keyset)
        case "retrying": engine.retrying()
        case "nested": engine.encrypted(with: keyset).prefixed("a").cached(count: 10).retrying().logged(by: logger)
        default: engine
        }
    }

    @Test(
        "An item is moved between two collections, in wrappers and without",
        arguments: [
            ("none", "none"), ("cached", "none"), ("prefixed", "cached"), ("encrypted", "retrying"),
            ("nested", "encrypted"), ("none", "nested"), ("nested", "nested"),
        ])
    func moving(_ left: String, _ right: String) async throws {
        let collections = try await Collections()
        let drafts = ObjectStorage<Account>(storage: try Self.wrapped(collections.left, left))
        let notes = ObjectStorage<Account>(storage: try Self.wrapped(collections.right, right))
        try await drafts.store(Account(units: 1), forKey: Self.key)
        // Into the caches.
        #expect(try await drafts.fetchObject(forKey: Self.key) == Account(units: 1))
        #expect(try await notes.fetchObject(forKey: Self.key) == nil)
        try await collections.left.transaction { transaction in
            let note = try #require(try await transaction.object(forKey: Self.key, in: drafts))
            try transaction.store(note, forKey: Self.key, in: notes)
            try transaction.removeObject(forKey: Self.key, in: drafts)
            #expect(try await transaction.object(forKey: Self.key, in: drafts) == nil)
            #expect(try await transaction.object(forKey: Self.key, in: notes) == note)
        }
        #expect(try await drafts.fetchObject(forKey: Self.key) == nil)
        #expect(try await notes.fetchObject(forKey: Self.key) == Account(units: 1))
    }

    @Test("An error changes nothing, and engines of two databases or of one item are refused")
    func failing() async throws {
        let collections = try await Collections()
        let (drafts, notes) = (
            ObjectStorage<Account>(storage: collections.left), ObjectStorage<Account>(storage: collections.right)
        )
        try await drafts.store(Account(units: 1), forKey: Self.key)
        await #expect(throws: Refusal.self) {
            try await collections.left.transaction { transaction in
                try transaction.removeObject(forKey: Self.key, in: drafts)
                try transaction.store(Account(units: 2), forKey: Self.key, in: notes)
                throw Refusal()
            }
        }
        let other = try await Collections(collections.schema)
        let database = collections.left.database
        #expect(try await database.collectionNames() == ["left", "right"])
        #expect((collections.right as any StorageBackend).database === database)
        for engines in [[collections.left, other.right], [collections.left, collections.left]] {
            let error = await #expect(throws: StorageError.self) { try await Collections.write(1, engines) }
            #expect(error?.code == .invalidArgument)
        }
        // An error of the server in the second part.
        try await collections.schema.sql("DELETE FROM emporium_collections WHERE name = 'right'")
        let removed = await #expect(throws: StorageError.self) {
            try await Collections.write(1, collections.engines, key: CacheKey("b"))
        }
        #expect(removed?.code == .placeRemoved)
        let unmet = await #expect(throws: StorageError.self) {
            try await Collections.write(1, collections.engines, key: CacheKey("b"), if: 7)
        }
        #expect(unmet?.code == .placeRemoved)
        #expect(try await drafts.fetchObject(forKey: Self.key) == Account(units: 1))
        #expect(try await collections.schema.sql("SELECT count(*) FROM emporium_items") == "1")
    }

    @Test("What was read is what is stored at the end: otherwise the closure runs again")
    func conflicting() async throws {
        let collections = try await Collections()
        let (from, to) = (
            ObjectStorage<Account>(storage: collections.left), ObjectStorage<Account>(storage: collections.right)
        )
        try await from.store(Account(units: 10), forKey: Self.key)
        let runs = Counter()
        try await collections.left.transaction { transaction in
            let units = try await transaction.object(forKey: Self.key, in: from)?.units ?? 0
            runs.increment()
            if runs.count < 3 { try await from.store(Account(units: units + 1), forKey: Self.key) }
            try transaction.store(Account(units: units), forKey: Self.key, in: to)
        }
        #expect(runs.count == 3)
        #expect(try await to.fetchObject(forKey: Self.key) == Account(units: 12))
        // The same for a transaction that only reads.
        let sum = try await collections.left.transaction { transaction in
            let read = try await transaction.object(forKey: Self.key, in: from)?.units ?? 0
            runs.increment()
            if runs.count == 4 { try await to.store(Account(units: 20), forKey: Self.key) }
            let none = try await transaction.object(forKey: CacheKey("none"), in: from)
            #expect(none == nil)
            return read + (try await transaction.object(forKey: Self.key, in: to)?.units ?? 0)
        }
        #expect(sum == 32)
    }

    /// Whether the sum of units is the same in each transaction and at each moment, also beside removals.
    @Test("Units that tasks of two programs move are neither lost nor doubled", arguments: isolations)
    func moneyTransfers(_ isolation: String) async throws {
        let schema = try await Schemas.shared.schema()
        let programs = [
            try await Collections(schema, ["0", "1", "2"], parameters: isolation),
            try await Collections(schema, ["0", "1", "2"], parameters: isolation),
        ]
        let storages = try programs.map { program in
            // Caches, so that their contents are attacked, too.
            try program.engines.enumerated().map { index, engine in
                ObjectStorage<Account>(storage: index == 1 ? try Self.wrapped(engine, "cached") : engine)
            }
        }
        let keys = (0..<4).map { CacheKey("\($0)") }
        for bank in storages[0] {
            for key in keys.dropLast() { try await bank.store(Account(units: 100), forKey: key) }
        }
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(task))
                    let (program, banks) = (programs[task % 2], storages[task % 2])
                    for _ in 0..<25 {
                        let (from, to) = (banks.randomElement(using: &random), banks.randomElement(using: &random))
                        guard let from, let to else { return }
                        let (key, other) = (keys.randomElement(using: &random), keys.randomElement(using: &random))
                        guard let key, let other else { return }
                        let movesAll = Int.random(in: 0..<4, using: &random) == 0
                        try await program.left.transaction { transaction in
                            guard var source = try await transaction.object(forKey: key, in: from), source.units > 0
                            else { return }
                            let units = movesAll ? source.units : 1
                            source.units -= units
                            // An empty account is removed, so that others have to find it absent.
                            if source.units == 0 {
                                try transaction.removeObject(forKey: key, in: from)
                            } else {
                                try transaction.store(source, forKey: key, in: from)
                            }
                            var target = try await transaction.object(forKey: other, in: to) ?? Account(units: 0)
                            target.units += units
                            try transaction.store(target, forKey: other, in: to)
                        }
                    }
                }
            }
            for (program, banks) in zip(programs, storages) {
                group.addTask {
                    for _ in 0..<15 {
                        let sum = try await program.left.transaction { transaction in
                            var sum = 0
                            for bank in banks {
                                sum += try await transaction.objects(forKeys: keys, in: bank).values.reduce(0) {
                                    $0 + $1.units
                                }
                            }
                            return sum
                        }
                        #expect(sum == 900)
                    }
                }
                group.addTask {
                    for _ in 0..<30 {
                        let sum = Locked(0)
                        try await program.database.atOneMoment {
                            sum.withLock { $0 = 0 }
                            for engine in program.engines {
                                for (_, data) in try await engine.fetchAll() {
                                    let units = try JSONDecoder().decode(Account.self, from: data).units
                                    sum.withLock { $0 += units }
                                }
                            }
                        }
                        #expect(sum.withLock { $0 } == 900)
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = "SELECT sum((convert_from(data, 'UTF8')::json->>'units')::integer) FROM emporium_items"
        #expect(try await schema.sql(all) == "900")
    }

    /// Each reads both items and writes one.
    @Test("Of two transactions that each write what the other has read, one is applied", arguments: isolations)
    func writeSkew(_ isolation: String) async throws {
        let schema = try await Schemas.shared.schema()
        let programs = [
            try await Collections(schema, parameters: isolation), try await Collections(schema, parameters: isolation),
        ]
        for round in 0..<40 {
            // Absent items, too, which can't be locked.
            let isAbsent = round.isMultiple(of: 2)
            for engine in programs[0].engines {
                try await engine.removeAllData()
                if !isAbsent { try await engine.write(Collections.data(1), key: Self.key) }
            }
            let cursors = try await [programs[0].left.fetchCursor(), programs[0].right.fetchCursor()]
            // By conditions, or by the ends of the logs.
            let usesBasis = round % 4 < 2
            let applied = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (number, program) in programs.enumerated() {
                    group.addTask {
                        let batches = program.engines.enumerated().map { index, engine in
                            var batch = StorageBatch([])
                            if index == number {
                                batch.operations = [.write(key: Self.key, data: Collections.data(2 + number))]
                            }
                            if usesBasis {
                                batch.basis = cursors[index]
                            } else {
                                batch.conditions = [
                                    StorageCondition(key: Self.key, data: isAbsent ? nil : Collections.data(1))
                                ]
                            }
                            return (engine: engine as any StorageBackend, batch: batch)
                        }
                        return try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied)
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(applied == 1, "round \(round)")
            let stored = try await programs[0].stored()
            #expect(stored.filter { $0 == "2" || $0 == "3" }.count == 1, "\(stored)")
        }
    }

    /// In both orders of the collections, and of the keys within.
    @Test("Conflicting transactions are all applied, without deadlocks")
    func lockOrder() async throws {
        let keys = (0..<20).map { CacheKey("\($0)") }
        let database = try await PostgresServer.shared().makeDatabase()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let own = try await PostgresDatabase(connecting: database.url, options: .patient())
                    let engines = [try await own.collection(named: "left"), try await own.collection(named: "right")]
                    for round in 0..<15 {
                        let value = Collections.data(writer * 100 + round)
                        let batches = engines.shuffled().map { engine in
                            let writes = keys.shuffled().map { StorageOperation.write(key: $0, data: value) }
                            // Some of them read first.
                            let batch = StorageBatch(writes, if: round % 3 == 0 ? [] : nil)
                            return (engine: engine as any StorageBackend, batch: batch)
                        }
                        _ = try await StorageBatchGroup.apply(batches)
                        let seen = Locked<Set<Data>>([])
                        try await own.atOneMoment {
                            let all = try await engines[0].fetchAllData() + engines[1].fetchAllData()
                            seen.withLock { $0 = Set(all) }
                        }
                        #expect(seen.withLock { $0.count } == 1)
                    }
                    await own.close()
                }
            }
            try await group.waitForAll()
        }
        try await database.server.sql("SELECT pg_stat_force_next_flush()", database: database.name)
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = '\(database.name)'"
        #expect(try await database.sql(deadlocks) == "0")
    }

    @Test("A batch of 10,000 items of two collections is applied as a whole, twice")
    func bulk() async throws {
        let collections = try await Collections()
        for round in 0..<2 {
            let began = ContinuousClock.now
            let batches = collections.engines.map { engine in
                let items = (0..<5_000).map { number in
                    StorageOperation.write(key: CacheKey("\(number)"), data: Data("\(round) \(number)".utf8))
                }
                let batch = StorageBatch(items + [.remove(key: CacheKey("\(4_999)"))])
                return (engine: engine as any StorageBackend, batch: batch)
            }
            #expect(try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied))
            print("10,000 items in \(ContinuousClock.now - began)")
            for engine in collections.engines {
                let all = try await engine.fetchAll()
                #expect(all.map(\.key) == (0..<4_999).map { CacheKey("\($0)") })
                #expect(all.map(\.data) == (0..<4_999).map { Data("\(round) \($0)".utf8) })
            }
        }
    }

    @Test("Several batches of one collection, and removals of all items, are parts of a transaction")
    func manyParts() async throws {
        let collections = try await Collections()
        let (left, right) = (collections.left, collections.right)
        let same = try await collections.database.collection(named: "left")
        try await Collections.write(0, collections.engines)
        let start = try await left.fetchCursor()
        func apply(_ batches: (any StorageBackend, [StorageOperation])...) async throws {
            let batches = batches.map { (engine: $0.0, batch: StorageBatch($0.1)) }
            #expect(try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied))
        }
        func write(_ key: String) -> StorageOperation { .write(key: CacheKey(key), data: Data(key.utf8)) }
        try await apply(
            (same, [write("z"), write("y")]), (right, [.removeAll, write("r")]),
            (left, [.remove(key: Self.key), write("b")]))
        #expect(try await left.fetchKeys() == [CacheKey("z"), CacheKey("y"), CacheKey("b")])
        #expect(try await right.fetchKeys() == [CacheKey("r")])
        let delta = try #require(try await left.fetchChanges(ChangesRequest(since: start)).value)
        #expect(Set(delta.changes.map(\.key.rawValue)) == ["z", "y", "a", "b"])
        try await apply((right, [.removeAll]), (left, [.removeAll]))
        #expect(try await collections.schema.sql("SELECT count(*) FROM emporium_items") == "0")
        // One request for each part, of the seven.
        let requests = "SELECT count(DISTINCT request), count(*) FROM emporium_changes"
        #expect(try await collections.schema.sql(requests).hasPrefix("7|"))
    }

    @Test("A cancelled transaction changes nothing, also later")
    func cancelled() async throws {
        let collections = try await Collections()
        try await Collections.write(1, collections.engines)
        let held = try await HeldTransaction(collections.schema)
        try await held.run("SELECT 1 FROM emporium_items WHERE collection = \(collections.right.number) FOR UPDATE")
        let task = Task { try await Collections.write(2, collections.engines) }
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%emporium_items%'
            AND pid IN (SELECT pid FROM pg_locks WHERE relation = '\(collections.schema.name).emporium_items'::regclass)
            """
        try await waitUntil("the transaction waited") { try await collections.schema.sql(waiting) == "1" }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        try await held.commit()
        #expect(try await collections.stored() == ["1", "1"])
        #expect(try await Collections.write(3, collections.engines, if: 1))
    }

    @Test("A transaction can change many collections")
    func manyCollections() async throws {
        let collections = try await Collections(nil, (0..<100).map { "\($0)" })
        for number in 0..<2 {
            let began = ContinuousClock.now
            #expect(
                try await Collections.write(number, collections.engines.shuffled(), if: number == 0 ? .some(nil) : 0))
            print("a transaction over 100 collections: \(ContinuousClock.now - began)")
            let stored = "SELECT count(*) FROM emporium_items WHERE convert_from(data, 'UTF8') = '\(number)'"
            #expect(try await collections.schema.sql(stored) == "100")
        }
    }
}
#endif
