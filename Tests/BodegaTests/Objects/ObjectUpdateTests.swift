import Bodega
import Foundation
import TestSupport
import Testing

private struct Account: Codable, Sendable, Equatable {
    var owner: String
    var balance: Int
}

/// Lets another writer act once, before the next batch.
private struct Interrupted: ForwardingStorageEngine {
    struct Interruption: Sendable {
        var act: (@Sendable () async throws -> Void)?
    }

    let base: any StorageBackend
    let interruption = Locked(Interruption())

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        if call.isWrite { try await interruption.withLock { $0.act.take() }?() }
        return try await body()
    }
}

/// Changes of objects that depend on what is stored.
@Suite struct ObjectUpdateTests {
    private let folder = TemporaryFolder()
    private let key = CacheKey("ada")

    private func engines() throws -> [any StorageBackend] {
        [
            MemoryStorageEngine(), try SQLiteStorageEngine(opening: folder.directory),
            try DiskStorageEngine(opening: TemporaryFolder().directory),
            MemoryStorageEngine().encrypted(with: EncryptionKeyset()).cached(),
        ]
    }

    @Test func `An update changes the stored object, or reports that there is none`() async throws {
        for engine in try engines() {
            let accounts = ObjectStorage<Account>(storage: engine)
            #expect(try await accounts.update(forKey: key) { $0.balance += 1 } == nil)
            #expect(try await accounts.fetchCount() == 0)
            let initial = Account(owner: "Ada", balance: 5)
            let inserted = try await accounts.update(forKey: key, default: initial) { $0.balance += 1 }
            #expect(inserted == Account(owner: "Ada", balance: 6))
            #expect(try await accounts.update(forKey: key) { $0.balance *= 2 }?.balance == 12)
            #expect(try await accounts.update(forKey: key, default: initial) { $0.balance += 1 }.balance == 13)
            #expect(try await accounts.fetchObject(forKey: key) == Account(owner: "Ada", balance: 13))
        }
    }

    @Test func `A change that throws, or an object that can't be decoded, leaves everything as it was`() async throws {
        struct Refusal: Error {}
        for engine in try engines() {
            let accounts = ObjectStorage<Account>(storage: engine)
            try await accounts.store(Account(owner: "Ada", balance: 5), forKey: key)
            await #expect(throws: Refusal.self) {
                try await accounts.update(forKey: key) { account in
                    account.balance = 0
                    throw Refusal()
                }
            }
            #expect(try await accounts.fetchObject(forKey: key)?.balance == 5)
            try await engine.write(Data("[]".utf8), key: key)
            let error = await #expect(throws: StorageError.self) {
                try await accounts.update(forKey: key, default: Account(owner: "", balance: 0)) { $0.balance += 1 }
            }
            #expect(error?.code == .decodingFailed)
            #expect(try await engine.fetch(key: key) == Data("[]".utf8))
        }
    }

    @Test func `A change of another writer is not lost, also one that removes or adds the object`() async throws {
        for base in try engines() {
            let others = ObjectStorage<Account>(storage: base)
            let engine = Interrupted(base: base)
            let accounts = ObjectStorage<Account>(storage: engine)
            func interrupt(_ act: @escaping @Sendable () async throws -> Void) {
                engine.interruption.withLock { $0.act = act }
            }
            try await others.store(Account(owner: "Ada", balance: 1), forKey: key)
            interrupt { [key] in try await others.store(Account(owner: "Ada", balance: 10), forKey: key) }
            #expect(try await accounts.update(forKey: key) { $0.balance += 1 }?.balance == 11)
            interrupt { [key] in try await others.removeObject(forKey: key) }
            #expect(try await accounts.update(forKey: key) { $0.balance += 1 } == nil)
            interrupt { [key] in try await others.store(Account(owner: "Bob", balance: 7), forKey: key) }
            let changed = try await accounts.update(forKey: key, default: Account(owner: "", balance: 0)) {
                $0.balance += 1
            }
            #expect(changed == Account(owner: "Bob", balance: 8))
            #expect(try await others.fetchObject(forKey: key) == changed)
        }
    }

    @Test func `Concurrent updates through several engines on one file all count`() async throws {
        let storages = try (0..<3).map { _ in
            ObjectStorage<Account>(
                storage: try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed))
        }
        try await withThrowingTaskGroup { group in
            for number in 0..<150 {
                group.addTask { [key] in
                    try await storages[number % 3].update(forKey: key, default: Account(owner: "", balance: 0)) {
                        $0.balance += number
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storages[0].fetchObject(forKey: key)?.balance == (0..<150).reduce(0, +))
    }

    @Test func `A removal by a query finds what the original has, not an older copy`() async throws {
        let base = MemoryStorageEngine()
        let engine = base.mirrored(to: MemoryStorageEngine(), readingMirror: .first)
        let accounts = ObjectStorage<Account>(storage: engine)
        try await accounts.store((0..<10).map { (CacheKey("\($0)"), Account(owner: "\($0)", balance: $0)) })
        let others = ObjectStorage<Account>(storage: base)
        try await others.store(Account(owner: "3", balance: 100), forKey: CacheKey("3"))
        try await others.store(Account(owner: "8", balance: 1), forKey: CacheKey("8"))
        #expect(try await accounts.removeObjects(matching: Query(where: #Predicate { $0.balance < 5 })) == 5)
        #expect(try await others.fetchAllObjects().objects.map(\.owner) == ["3", "5", "6", "7", "9"])
    }

    @Test func `A removal by a query spares what has changed and does not match any more`() async throws {
        for base in try engines() {
            let others = ObjectStorage<Account>(storage: base)
            let engine = Interrupted(base: base)
            let accounts = ObjectStorage<Account>(storage: engine)
            let all = (0..<1_200).map { (key: CacheKey("\($0)"), object: Account(owner: "\($0)", balance: $0 % 3)) }
            try await others.store(all)
            engine.interruption.withLock { interruption in
                interruption.act = { try await others.store(Account(owner: "0", balance: 5), forKey: CacheKey("0")) }
            }
            let empty = Query<Account>(where: #Predicate { $0.balance == 0 }, sortedBy: SortDescriptor(\.owner))
            #expect(try await accounts.removeObjects(matching: empty) == 399)
            let left = try await others.fetchAllObjects().objectsAndKeys
            let expected = Set(all.filter { $0.object.balance != 0 }.map(\.key)).union([CacheKey("0")])
            #expect(Set(left.map(\.key)) == expected)
            #expect(try await accounts.removeObjects(matching: empty) == 0)
        }
    }

    @Test func `A removal by a query reads what does not match once, not once for each batch`() async throws {
        for base in try engines().prefix(2) {
            let engine = CountingItems(of: base)
            let accounts = ObjectStorage<Account>(storage: engine)
            let all = (0..<8_000).map { (key: CacheKey("\($0)"), object: Account(owner: "\($0)", balance: $0 % 2)) }
            try await accounts.store(all)
            _ = engine.take()
            #expect(try await accounts.removeObjects(matching: Query(where: #Predicate { $0.balance == 0 })) == 4_000)
            // The last item of a batch shows that there is another one, which reads it again.
            let read = engine.take()
            #expect(read <= all.count + 100, "\(read) items were read")
            #expect(try await accounts.fetchCount() == 4_000)
        }
    }
}
