import Bodega
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// What transactions do to an SQLite file, its tables and its logs.
@Suite struct TransactionFileTests {

    private let folder = TemporaryFolder()
    private var file: URL { folder.file("CodableStoreKit.sqlite3") }
    private var stores: UnitStores { UnitStores(.sqlite(in: folder.directory)) }

    private struct Refusal: Error {}

    @Test("A table that was created in vain does not mix up collections")
    func reusedTable() throws {
        let stores = stores
        #expect(throws: Refusal.self) {
            try stores.purses.transaction {
                try stores.purses.save(Purse(id: "purse", units: 1))
                throw Refusal()
            }
        }
        // Its table gets the name of the other one's.
        try stores.chests.save(Chest(id: "chest", units: 2))
        try stores.purses.save(Purse(id: "purse", units: 3))
        #expect(try stores.chests.getCollection() == [Chest(id: "chest", units: 2)])
        #expect(try stores.purses.getCollection() == [Purse(id: "purse", units: 3)])
    }

    @Test("After the file was replaced, a transaction changes collections that were used with the former one")
    func formerCollections() throws {
        let stores = stores
        try stores.purses.save(Purse(id: "before", units: 1))
        try stores.chests.save(Chest(id: "before", units: 1))
        for name in try folder.names() { try FileManager.default.removeItem(at: folder.file(name)) }
        try stores.purses.save(Purse(id: "a", units: 1))
        try stores.purses.transaction {
            try stores.chests.save(Chest(id: "b", units: 2))
            try stores.receipts.save(Receipt(id: "c", units: 3))
        }
        #expect(try stores.purses.getCollection() == [Purse(id: "a", units: 1)])
        #expect(try stores.chests.getCollection() == [Chest(id: "b", units: 2)])
        #expect(try stores.receipts.getCollection().map(\.id) == ["c"])
        // The collections of another location are not changed in it.
        let others = UnitStores(.memory())
        #expect(throws: StorageError.self) {
            try stores.purses.transaction { try others.chests.save(Chest(id: "never", units: 1)) }
        }
        #expect(try others.chests.getCollection().isEmpty)
    }

    @Test("Logs that were created in vain are not believed to exist")
    func undoneLogs() throws {
        let stores = stores
        for id in ["a", "b"] {
            try stores.purses.save(Purse(id: id, units: 1))
            try stores.chests.save(Chest(id: id, units: 1))
        }
        let events = Locked<[String]>([])
        let isNested = Locked(false)
        try stores.receipts.transaction {
            // Observing can't begin in a transaction, so its changes create the logs.
            stores.purses.observeCollection(on: .immediate) { event in
                events.withLock { $0.append("purse \(event.object.id)") }
            }
            stores.chests.observeCollection(on: .immediate) { event in
                events.withLock { $0.append("chest \(event.object.id)") }
            }
            #expect(throws: Refusal.self) {
                try stores.purses.transaction {
                    try stores.purses.save(Purse(id: "c", units: 1))
                    isNested.withLock { $0 = true }
                    throw Refusal()
                }
            }
            try stores.chests.save(Chest(id: "c", units: 1))
        }
        for number in 0..<3 {
            try stores.purses.save(Purse(id: "\(number)", units: 1))
            try stores.chests.save(Chest(id: "\(number)", units: 1))
        }
        #expect(isNested.withLock { $0 })
        #expect(
            events.withLock { $0 } == [
                "chest c", "purse 0", "chest 0", "purse 1", "chest 1", "purse 2", "chest 2",
            ])
    }

    @Test("Logs that readers wait for, and that were created in vain, are created later")
    func undoneAwaitedLogs() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let others = try engine.collection(named: "chests")
        let purses = CodableStore<Purse>(engine: .sqlite(engine))
        let chests = CodableStore<Chest>(engine: .sqlite(others))
        try purses.save(Purse(id: "a", units: 1))
        try chests.save(Chest(id: "a", units: 1))
        // They note where the logs will begin.
        let cursors = (try await engine.fetchSnapshot().cursor, try await others.fetchSnapshot().cursor)
        try purses.transaction {
            #expect(throws: Refusal.self) {
                try purses.transaction {
                    try purses.save(Purse(id: "undone", units: 1))
                    throw Refusal()
                }
            }
            // The version of the schema is that of the log that was undone.
            try chests.save(Chest(id: "b", units: 1))
        }
        try purses.save(Purse(id: "b", units: 1))
        let changes = try await engine.fetchChanges(ChangesRequest(since: cursors.0)).value?.changes
        let otherChanges = try await others.fetchChanges(ChangesRequest(since: cursors.1)).value?.changes
        #expect(changes?.map(\.key) == [CacheKey("b")])
        #expect(otherChanges?.map(\.key) == [CacheKey("b")])
    }

    @Test("The log marks the changes of a transaction if several collections have changed")
    func origins() async throws {
        let stores = stores
        try stores.purses.save(Purse(id: "first", units: 1))
        try stores.chests.save(Chest(id: "first", units: 1))
        var logs: [(engine: SQLiteStorageEngine, cursor: StorageCursor)] = []
        for name in try await SQLiteStorageEngine(openingFile: file).collectionNames().sorted() {
            let engine = try SQLiteStorageEngine(openingFile: file, collection: name)
            logs.append((engine, try await engine.fetchCursor()))
        }
        try #require(logs.count == 2)
        try stores.purses.transaction {
            try stores.purses.save(Purse(id: "alone", units: 1))
            try stores.purses.save(Purse(id: "alone", units: 2))
            _ = try stores.chests.getCollection()
        }
        try stores.purses.transaction {
            try stores.purses.save(Purse(id: "a", units: 1))
            try stores.purses.save(Purse(id: "b", units: 1))
            try stores.chests.save(Chest(id: "a", units: 1))
            try stores.purses.delete(identifier: "a")
        }
        try stores.chests.save(Chest(id: "last", units: 1))
        var marks: [[Bool?]] = []
        for (engine, cursor) in logs {
            let delta = try #require(await engine.fetchChanges(ChangesRequest(since: cursor)).value)
            marks.append(delta.changes.map { $0.origin?.isShared })
        }
        #expect(marks == [[true, false], [false, false, true, true, true]])
    }

    @Test("A transaction uses a file that replaces another, but none that is replaced during it")
    func replacedFile() throws {
        let stores = stores
        try stores.purses.save(Purse(id: "old", units: 1))
        try stores.chests.save(Chest(id: "old", units: 1))
        try removeFile()
        let runs = Counter()
        try stores.purses.transaction {
            runs.increment()
            // The store of chests still knows the old file.
            #expect(!stores.chests.exists(identifier: "old"))
            try stores.purses.save(Purse(id: "new", units: 1))
            try stores.chests.save(Chest(id: "new", units: 1))
        }
        #expect(try stores.purses.getCollection().map(\.id) == ["new"])
        #expect(try stores.chests.getCollection().map(\.id) == ["new"])
        let error = #expect(throws: StorageError.self) {
            try stores.purses.transaction {
                runs.increment()
                try stores.purses.save(Purse(id: "lost", units: 1))
                try removeFile()
                // Another thread would close the file, which waits for the transaction.
                let isOver = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = try? stores.chests.getCollection()
                    isOver.signal()
                }
                #expect(isOver.wait(timeout: .now() + 60) == .success)
                // A store that was not opened yet.
                _ = try self.stores.receipts.getCollection()
            }
        }
        #expect(error?.code == .locked && runs.count == 2)
        #expect(throws: StorageError.self) {
            try stores.purses.transaction {
                try stores.purses.save(Purse(id: "lost", units: 1))
                if FileManager.default.fileExists(atPath: file.path) { try removeFile() }
            }
        }
        try stores.purses.transaction { try stores.purses.save(Purse(id: "last", units: 1)) }
        #expect(try stores.purses.getCollection().map(\.id) == ["last"])
    }

    private func removeFile() throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
            try FileManager.default.removeItem(atPath: file.path + suffix)
        }
    }

    @Test("An engine for reading has no transactions")
    func readOnly() async throws {
        try stores.purses.save(Purse(id: "a", units: 1))
        let name = try #require(await SQLiteStorageEngine(openingFile: file).collectionNames().first)
        let engine = try SQLiteStorageEngine(readingFile: file, collection: name)
        let error = #expect(throws: StorageError.self) {
            try CodableStore<Purse>(engine: .sqlite(engine)).transaction {}
        }
        #expect(error?.code == .readOnly)
    }

    @Test("A Boutique engine on the same collections takes part")
    func sharedEngines() throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let purses = CodableStore<Purse>(engine: .sqlite(engine))
        let chests = CodableStore<Chest>(engine: .sqlite(try engine.collection(named: "chests")))
        #expect(throws: Refusal.self) {
            try purses.transaction {
                try purses.save(Purse(id: "a", units: 1))
                try chests.save(Chest(id: "a", units: 1))
                throw Refusal()
            }
        }
        #expect(try purses.getCollection().isEmpty && chests.getCollection().isEmpty)
        try purses.transaction {
            try purses.save(Purse(id: "a", units: 1))
            try chests.save(Chest(id: "a", units: 1))
        }
        #expect(try purses.getCollection().count == 1 && chests.getCollection().count == 1)
    }
}
