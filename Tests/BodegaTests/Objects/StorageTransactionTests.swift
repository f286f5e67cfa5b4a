import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

/// Transactions over several collections of one database.
@Suite struct StorageTransactionTests {

    struct Account: Codable, Sendable, Equatable {
        var units: Int
    }

    private struct Refusal: Error {}

    private static let key = CacheKey("a")

    /// Wrappers that take part, each around a collection.
    private static func wrapped(_ engine: any StorageBackend) throws -> [(name: String, engine: any StorageBackend)] {
        let keyset = EncryptionKeyset()
        return [
            ("none", engine), ("cached", engine.cached(count: 100)), ("prefixed", engine.prefixed("accounts")),
            ("encrypted", engine.encrypted(with: keyset)), ("logged", engine.logged(by: Logger(label: "tests"))),
            ("retrying", engine.retrying()), ("expiring", engine.expiring(after: .seconds(1_000))),
            (
                "nested",
                engine.encrypted(with: keyset).prefixed("a").cached(count: 10).retrying().logged(
                    by: Logger(label: "tests"))
            ),
        ]
    }

    @Test("An item is moved between any two collections, in wrappers and without", arguments: DatabaseKind.allCases)
    func moving(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let open = try kind.open(in: folder)
        let database = try open("a")
        let names = try Self.wrapped(database).map(\.name)
        for (left, right) in names.flatMap({ left in names.map { (left, $0) } }) {
            func engine(_ collection: String, _ name: String) throws -> any StorageBackend {
                let base = try open("\(left) \(right) \(collection)")
                let found = try Self.wrapped(base).first { $0.name == name }
                return try #require(found).engine
            }
            let drafts = ObjectStorage<Account>(storage: try engine("left", left))
            let notes = ObjectStorage<Account>(storage: try engine("right", right))
            try await drafts.store(Account(units: 1), forKey: Self.key)
            // Into the caches.
            #expect(try await drafts.fetchObject(forKey: Self.key) == Account(units: 1))
            #expect(try await notes.fetchObject(forKey: Self.key) == nil)
            try await database.transaction { transaction in
                let note = try #require(try await transaction.object(forKey: Self.key, in: drafts))
                try transaction.store(note, forKey: Self.key, in: notes)
                try transaction.removeObject(forKey: Self.key, in: drafts)
                #expect(try await transaction.object(forKey: Self.key, in: drafts) == nil)
                #expect(try await transaction.object(forKey: Self.key, in: notes) == note)
            }
            #expect(try await drafts.fetchObject(forKey: Self.key) == nil, "\(left), \(right)")
            #expect(try await notes.fetchObject(forKey: Self.key) == Account(units: 1), "\(left), \(right)")
        }
    }

    @Test("An error changes nothing, and the transaction can't be used later", arguments: DatabaseKind.allCases)
    func failing(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let open = try kind.open(in: folder)
        let (left, right) = (try open("left"), try open("right"))
        let (drafts, notes) = (ObjectStorage<Account>(storage: left), ObjectStorage<Account>(storage: right))
        try await drafts.store(Account(units: 1), forKey: Self.key)
        var escaped: StorageTransaction?
        await #expect(throws: Refusal.self) {
            try await left.transaction { transaction in
                escaped = transaction
                try transaction.removeObject(forKey: Self.key, in: drafts)
                try transaction.store(Account(units: 2), forKey: Self.key, in: notes)
                throw Refusal()
            }
        }
        #expect(try await drafts.fetchObject(forKey: Self.key) == Account(units: 1))
        #expect(try await notes.fetchObject(forKey: Self.key) == nil)
        let late = try #require(escaped)
        let error = #expect(throws: StorageError.self) { try late.removeObject(forKey: Self.key, in: drafts) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(
        "What was read is what is stored at the end: otherwise the closure runs again", arguments: DatabaseKind.allCases
    )
    func conflicting(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let open = try kind.open(in: folder)
        let (left, right) = (try open("left"), try open("right"))
        let (from, to) = (ObjectStorage<Account>(storage: left), ObjectStorage<Account>(storage: right))
        try await from.store(Account(units: 10), forKey: Self.key)
        let runs = Counter()
        try await left.transaction { transaction in
            let units = try await transaction.object(forKey: Self.key, in: from)?.units ?? 0
            runs.increment()
            if runs.count < 3 { try await from.store(Account(units: units + 1), forKey: Self.key) }
            try transaction.store(Account(units: units), forKey: Self.key, in: to)
        }
        #expect(runs.count == 3)
        #expect(try await to.fetchObject(forKey: Self.key) == Account(units: 12))
        #expect(try await from.fetchObject(forKey: Self.key) == Account(units: 12))
    }

    @Test("Units that tasks move between collections are neither lost nor doubled", arguments: DatabaseKind.allCases)
    func moneyTransfers(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let open = try kind.open(in: folder)
        let database = try open("0")
        // Caches, so that their contents are attacked, too.
        let banks = try (0..<3).map { ObjectStorage<Account>(storage: try open("\($0)").cached(count: 100)) }
        let keys = (0..<4).map { CacheKey("\($0)") }
        for bank in banks { for key in keys { try await bank.store(Account(units: 100), forKey: key) } }
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(task))
                    for _ in 0..<50 {
                        let (from, to) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
                        let (key, other) = (
                            keys[Int.random(in: 0..<4, using: &random)], keys[Int.random(in: 0..<4, using: &random)]
                        )
                        let units = Int.random(in: 1...20, using: &random)
                        try await database.transaction { transaction in
                            try await transaction.update(forKey: key, in: banks[from]) { $0.units -= units }
                            try await transaction.update(forKey: other, in: banks[to]) { $0.units += units }
                        }
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<30 {
                        let sum = try await database.transaction { transaction in
                            var sum = 0
                            for bank in banks {
                                for account in try await transaction.objects(forKeys: keys, in: bank).values {
                                    sum += account.units
                                }
                            }
                            return sum
                        }
                        #expect(sum == 1_200)
                    }
                }
            }
            try await group.waitForAll()
        }
        var sum = 0
        for bank in banks { for account in try await bank.fetchAllObjects().objects { sum += account.units } }
        #expect(sum == 1_200)
    }

    @Test("Engines without a database refuse, and are named")
    func refusals() async throws {
        let folder = TemporaryFolder()
        let memory = MemoryStorageEngine()
        let disk = try DiskStorageEngine(opening: folder.directory)
        let refusing: [(any StorageBackend, String)] = [
            (disk, "DiskStorageEngine"), (memory.limited(count: 10), "LimitedStorageEngine"),
            (memory.limited(count: 10).cached(count: 1), "LimitedStorageEngine"),
            (memory.mirrored(to: MemoryStorageEngine()), "MirroredStorageEngine"),
            (PlainEngine(MemoryStorageEngine()).backend, "AdaptedEngine"),
        ]
        for (engine, name) in refusing {
            let error = await #expect(throws: StorageError.self) {
                try await engine.transaction { _ in }
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
        // Two databases.
        let (left, right) = (
            ObjectStorage<Account>(storage: memory), ObjectStorage<Account>(storage: MemoryStorageEngine())
        )
        let error = await #expect(throws: StorageError.self) {
            try await memory.transaction { transaction in
                try transaction.store(Account(units: 1), forKey: Self.key, in: left)
                try transaction.store(Account(units: 1), forKey: Self.key, in: right)
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(try await memory.fetchCount() == 0)
    }

    @Test("Two storages of one collection can't hide each other's changes", arguments: DatabaseKind.allCases)
    func sameCollection(_ kind: DatabaseKind) async throws {
        let folder = TemporaryFolder()
        let open = try kind.open(in: folder)
        let (engine, same) = (try open("a"), try open("a"))
        let (one, two) = (ObjectStorage<Account>(storage: engine), ObjectStorage<Account>(storage: same))
        let error = await #expect(throws: StorageError.self) {
            try await engine.transaction { transaction in
                try transaction.store(Account(units: 1), forKey: Self.key, in: one)
                _ = try await transaction.object(forKey: Self.key, in: two)
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(try await engine.fetchCount() == 0)
        // Different items don't matter.
        try await engine.transaction { transaction in
            try transaction.store(Account(units: 1), forKey: Self.key, in: one)
            try transaction.store(Account(units: 1), forKey: CacheKey("b"), in: two)
        }
        #expect(try await engine.fetchCount() == 2)
    }

    /// A wrapper that loses the group, as one that was written before there were groups.
    private struct Forgetful: ForwardingStorageEngine {
        let base: any StorageBackend

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
            try await base.apply(StorageBatch(batch.operations, if: batch.conditions))
        }
    }

    @Test("A wrapper that loses the group is reported")
    func forgetfulWrapper() async throws {
        let memory = MemoryStorageEngine()
        let one = ObjectStorage<Account>(storage: Forgetful(base: memory.collection(named: "a")))
        let two = ObjectStorage<Account>(storage: memory)
        let error = await #expect(throws: StorageError.self) {
            try await memory.transaction { transaction in
                try transaction.store(Account(units: 1), forKey: Self.key, in: two)
                try transaction.store(Account(units: 1), forKey: Self.key, in: one)
            }
        }
        #expect(error?.message.contains("Forgetful") == true)
        #expect(try await memory.fetchCount() == 0)
    }

    @Test("A retrying engine among the members repeats the transaction, but not twice as often", arguments: [0, 1, 2])
    func retrying(_ place: Int) async throws {
        let memory = MemoryStorageEngine()
        let faulty = FaultInjectingStorageEngine(memory.collection(named: "faulty"))
        var policy = StorageRetryPolicy()
        policy.maximumAttempts = 3
        let clock = InstantClock()
        var engines: [any StorageBackend] = [memory.collection(named: "a"), faulty]
        if place < 2 { engines[place] = engines[place].retrying(policy, clock: clock) }
        let storages = engines.map { ObjectStorage<Account>(storage: $0) }
        func change() async throws {
            try await memory.transaction { transaction in
                for storage in storages { try transaction.store(Account(units: 1), forKey: Self.key, in: storage) }
            }
        }
        let down = StorageError(.unreachable, "The network is down.")
        for number in 1...2 { faulty.inject(.fail(.writes, .number(number), with: down)) }
        if place == 2 {
            await #expect(throws: StorageError.self) { try await change() }
            #expect(try await memory.collection(named: "a").fetchCount() == 0)
            return
        }
        try await change()
        #expect(try await memory.collection(named: "a").fetchCount() == 1)
        #expect(try await memory.collection(named: "faulty").fetchCount() == 1)
    }
}
