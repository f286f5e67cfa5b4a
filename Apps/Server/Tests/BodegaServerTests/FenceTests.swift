import Bodega
import BodegaRemote
import BodegaServer
import Foundation
import Testing

/// Batches whose outcome is not known, and what settles it.
@Suite("Identified batches and fences")
struct FenceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let key = CacheKey("k")

    private func database() throws -> SQLiteStorageEngine {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try SQLiteStorageEngine(openingFile: folder.appendingPathComponent("bank.db"), durability: .relaxed)
    }

    private func collections(_ database: SQLiteStorageEngine) throws -> StorageCollections {
        var collections = StorageCollections([
            "a": try database.collection(named: "a"), "b": try database.collection(named: "b"),
        ])
        collections.receipts = try database.collection(named: "receipts")
        return collections
    }

    private func write(_ text: String, key: CacheKey? = nil, _ identifier: UUID) -> StorageBatch {
        var batch = StorageBatch([.write(key: key ?? self.key, data: Data(text.utf8))])
        batch.identifier = identifier
        return batch
    }

    /// Opens a collection in as many attempts as it takes.
    private func opened(_ database: RemoteDatabase) async throws -> RemoteStorageEngine {
        while true {
            do {
                return try await database.collection(named: "a")
            } catch {
                try Task.checkCancellation()
            }
        }
    }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        do { _ = try await body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test("A batch with an identifier is applied once, also by another program, and dates don't make it another one")
    func identifiers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let a = try database.collection(named: "a")
        #expect(try await server.engine("a").traits.contains(.receipts))
        let identifier = UUID()
        // A dictionary has another order in each of these.
        func batch() -> StorageBatch {
            var batch = write("1", identifier)
            for number in (0..<20).shuffled() {
                let key = CacheKey("\(number)")
                let date = Date(timeIntervalSince1970: 2_000 + Double(number))
                batch.dates[key] = StorageDates(createdAt: date, updatedAt: date)
            }
            batch.operations += (0..<20).map { .write(key: CacheKey("\($0)"), data: Data()) }
            batch.conditions = [StorageCondition(key: key, data: nil)]
            return batch
        }
        #expect(try await server.engine("a").apply(batch()).value.wasApplied)
        try await a.write(Data("2".utf8), key: key)
        for _ in 0..<5 { #expect(try await server.engine("a").apply(batch()).value.wasApplied) }
        #expect(try await a.fetch(key: key) == Data("2".utf8))
        let engine = try await server.engine("a")
        #expect(await code { try await engine.apply(write("3", identifier)) } == .identifierUsed)
        #expect(try await engine.server.fence(identifier))
        #expect(try await a.fetch(key: key) == Data("2".utf8))
    }

    @Test("A fence after a batch, before it, and of several collections")
    func orders() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let server = try await TestServer(try collections(database))
        let remote = try RemoteDatabase(server.url)
        let (a, b) = (try await remote.collection(named: "a"), try await remote.collection(named: "b"))
        let (before, after, unmet) = (UUID(), UUID(), UUID())
        _ = try await StorageBatchGroup.apply([(a, write("1", before)), (b, write("1", before))])
        for _ in 0..<3 { #expect(try await remote.fence(before)) }
        for _ in 0..<3 { #expect(try await !remote.fence(after)) }
        let late = await code {
            try await StorageBatchGroup.apply([(a, write("2", after)), (b, write("2", after))])
        }
        #expect(late == .identifierUsed)
        // One whose conditions were not met has not been applied, and never will be.
        var batch = write("3", unmet)
        batch.conditions = [StorageCondition(key: key, data: nil)]
        #expect(try await !a.apply(batch).value.wasApplied)
        #expect(try await !remote.fence(unmet))
        try await a.remove(key: key)
        #expect(try await !a.apply(batch).value.wasApplied)
        #expect(await code { try await a.apply(write("4", unmet)) } == .identifierUsed)
        #expect(try await a.fetch(key: key) == nil)
        #expect(try await b.fetch(key: key) == Data("1".utf8))
    }

    @Test(
        "A client without the right to write can't fence, one with it to any collection can, if it knows the identifier"
    )
    func rights() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let server = try await TestServer(access: tokens, try collections(database))
        // Another client could guess the first one, but not the second one.
        let identifiers = [try #require(UUID(uuidString: "74738FF5-5367-5958-9AEE-98FFFDCD1876")), UUID()]
        func remote(_ grant: AccessGrant) async throws -> RemoteDatabase {
            let token = try await tokens.create(name: "a", grants: [grant]).token
            return try RemoteDatabase(server.url) { token }
        }
        let reader = try await remote(AccessGrant(rights: [.read, .observe]))
        let writer = try await remote(AccessGrant(collection: "a", matching: "@.x == 1"))
        let other = try await remote(AccessGrant(rights: [.write]))
        for (identifier, isOfAll) in zip(identifiers, [false, true]) {
            #expect(await code { try await reader.fence(identifier) } == .permissionDenied)
            if !isOfAll { #expect(try await !writer.fence(identifier)) }
            #expect(try await other.collection(named: "a").apply(write("1", identifier)).value.wasApplied)
            #expect(try await other.fence(identifier))
            #expect(try await writer.fence(identifier) == isOfAll)
        }
        let fenced = UUID()
        #expect(try await !writer.fence(fenced))
        #expect(await code { try await other.collection(named: "a").apply(write("1", fenced)) } == .identifierUsed)
        let without = try await TestServer(["a": MemoryStorageEngine()])
        #expect(try await !without.engine("a").traits.contains(.receipts))
        #expect(await code { try await RemoteDatabase(without.url).fence(fenced) } == .invalidArgument)
    }

    @Test("A batch and its fence at the same time: one of them wins, and the fence knows which")
    func race() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try database()
        let servers = [
            try await TestServer(try collections(database)), try await TestServer(try collections(database)),
        ]
        let engine = try await servers[0].engine("a")
        let others = try servers.map { try RemoteDatabase($0.url) }
        for number in 0..<60 {
            let (identifier, key) = (UUID(), CacheKey("\(number)"))
            async let applied = code { try await engine.apply(write("1", key: key, identifier)) }
            async let first = others[number % 2].fence(identifier)
            async let second = others[0].fence(identifier)
            let outcome = await applied
            let answers = try await [first, second]
            #expect(Set(answers).count == 1)
            let isStored = try await database.collection(named: "a").fetch(key: key) != nil
            #expect(isStored == answers[0])
            #expect(outcome == (answers[0] ? nil : .identifierUsed))
        }
    }

    @Test("Behind a proxy that delays, loses, doubles and cuts, a fence settles each batch")
    func proxy() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        print("fences: EMPORIUM_SEED=\(proxySeed)")
        let database = try database()
        let server = try await TestServer(try collections(database))
        let proxy = try await FaultyProxy(before: server, seed: proxySeed)
        let engine = try await RemoteDatabase(proxy.url, options: .patient).collection(named: "a")
        var hasty = RemoteStorageOptions()
        hasty.retryPolicy.maximumAttempts = 1
        let sender = try await opened(try RemoteDatabase(proxy.url, options: hasty))
        let stored = try database.collection(named: "a")
        var counts: [Bool: Int] = [:]
        for number in 0..<100 {
            let (identifier, key) = (UUID(), CacheKey("\(number)"))
            let batch = write("\(number)", key: key, identifier)
            if await code({ try await sender.apply(batch) }) == nil { continue }
            let wasApplied = try await engine.server.fence(identifier)
            counts[wasApplied, default: 0] += 1
            #expect(try await (stored.fetch(key: key) != nil) == wasApplied)
            // What the proxy may have held back.
            let again = await code { try await engine.apply(batch) }
            #expect(again == (wasApplied ? nil : .identifierUsed))
            #expect(try await (stored.fetch(key: key) != nil) == wasApplied)
        }
        #expect(counts[true, default: 0] > 0 && counts[false, default: 0] > 0, "\(counts)")
    }
}
