import BodegaTesting
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport
import Testing

/// Transactions over the collections of one location.
@Suite struct TransactionTests {

    private let folder = TemporaryFolder()

    private struct Refusal: Error {}

    private func stores(_ kind: LocationKind) throws -> UnitStores { UnitStores(try kind.location(in: folder)) }

    /// Runs a closure on another thread, and waits for it.
    private static func elsewhere<Value>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        nonisolated(unsafe) var result: Result<Value, any Error>?
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            result = Result { try body() }
            isOver.signal()
        }
        try #require(isOver.wait(timeout: .now() + 60) == .success)
        return try #require(result).get()
    }

    @Test("A transaction finds its own changes, and others find them after it", arguments: LocationKind.allCases)
    func isolation(_ kind: LocationKind) throws {
        let stores = try stores(kind)
        try stores.purses.save(Purse(id: "a", units: 1))
        let result = try stores.chests.transaction {
            let purse = try stores.purses.delete(identifier: "a")
            try stores.chests.save(Chest(id: "a", units: purse.units))
            #expect(!stores.purses.exists(identifier: "a") && stores.chests.exists(identifier: "a"))
            #expect(try stores.chests.getCollection() == [Chest(id: "a", units: 1)])
            // Reading does not wait for the end.
            try Self.elsewhere {
                #expect(stores.purses.exists(identifier: "a"))
                let chests = try stores.chests.getCollection()
                #expect(chests == [])
            }
            return purse.units
        }
        #expect(result == 1)
        try Self.elsewhere {
            #expect(!stores.purses.exists(identifier: "a") && stores.chests.exists(identifier: "a"))
        }
    }

    @Test("An error of the closure changes nothing", arguments: LocationKind.allCases)
    func failure(_ kind: LocationKind) throws {
        let stores = try stores(kind)
        try stores.purses.save(Purse(id: "a", units: 1))
        #expect(throws: Refusal.self) {
            try stores.purses.transaction {
                try stores.purses.delete(identifier: "a")
                try stores.chests.save(Chest(id: "a", units: 1))
                try stores.receipts.removeCollection()
                throw Refusal()
            }
        }
        #expect(try stores.purses.getCollection() == [Purse(id: "a", units: 1)])
        #expect(try stores.chests.getCollection() == [])
        // It is usable again.
        try stores.purses.transaction { try stores.chests.save(Chest(id: "b", units: 2)) }
        #expect(try stores.chests.getCollection() == [Chest(id: "b", units: 2)])
    }

    @Test("A caught error undoes only what has thrown it", arguments: LocationKind.allCases)
    func caught(_ kind: LocationKind) throws {
        let stores = try stores(kind)
        try stores.purses.transaction {
            try stores.purses.save(Purse(id: "a", units: 1))
            let error = #expect(throws: StorageError.self) { try stores.purses.delete(identifier: "b") }
            #expect(error?.code == .notFound)
            #expect(throws: Refusal.self) {
                try stores.purses.transaction {
                    try stores.purses.delete(identifier: "a")
                    try stores.chests.save(Chest(id: "a", units: 1))
                    throw Refusal()
                }
            }
            try stores.receipts.save(Receipt(id: "a", units: 1))
        }
        #expect(try stores.purses.getCollection().count == 1)
        #expect(try stores.chests.getCollection().isEmpty)
        #expect(try stores.receipts.getCollection().count == 1)
    }

    @Test("Containers and types of a location change together", arguments: LocationKind.allCases)
    func containers(_ kind: LocationKind) throws {
        let location = try kind.location(in: folder)
        let archive = CodableStore<Purse>(container: "Archive", engine: .at(location))
        let stores = UnitStores(location)
        try stores.purses.save(Purse(id: "a", units: 1))
        #expect(throws: Refusal.self) {
            try archive.transaction {
                for result in try stores.purses.copy(toStore: archive) { #expect(result.error == nil) }
                try Purse(id: "b", units: 2).save(container: "Units", engine: .at(location))
                #expect(try archive.getCollection().count == 1 && stores.purses.getCollection().count == 2)
                throw Refusal()
            }
        }
        #expect(try archive.getCollection().isEmpty && stores.purses.getCollection().count == 1)
    }

    @Test("Folders of files and custom engines have no transactions, and say what has", arguments: [true, false])
    func refusal(isCustom: Bool) throws {
        let engine: CodableStore<Purse>.Engine =
            isCustom ? .custom(AnyCodableStoreEngine(DictionaryEngine())) : .fileSystem(in: folder.directory)
        let error = #expect(throws: StorageError.self) {
            try CodableStore<Purse>(engine: engine).transaction { Issue.record("The closure runs.") }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(isCustom ? "DictionaryEngine" : "files") == true)
        #expect(error?.message.contains(".sqlite") == true)
    }

    @Test("What a transaction can't undo is refused in it", arguments: LocationKind.allCases)
    func otherLocations(_ kind: LocationKind) throws {
        let stores = try stores(kind)
        let other = TemporaryFolder()
        let others: [CodableStore<Purse>] = [
            CodableStore(engine: .fileSystem(in: other.directory)), CodableStore(engine: .sqlite(in: other.directory)),
            CodableStore(engine: .at(.memory())),
            CodableStore(engine: .sqlite(try SQLiteStorageEngine(opening: other.directory))),
        ]
        let custom = CodableStore<Purse>(engine: .custom(AnyCodableStoreEngine(DictionaryEngine())))
        for store in others + [custom] { try store.save(Purse(id: "a", units: 1)) }
        try stores.purses.transaction {
            for store in others {
                let objects = try store.getCollection()
                #expect(objects.count == 1)
                Self.expectRefusal { try store.save(Purse(id: "b", units: 1)) }
                Self.expectRefusal { try store.delete(identifier: "a") }
                Self.expectRefusal { _ = try store.deleteCollection() }
                Self.expectRefusal { try store.removeCollection() }
            }
            for store in others.dropFirst() + [custom] { Self.expectRefusal { try store.transaction {} } }
            Self.expectRefusal { _ = try custom.getCollection() }
            Self.expectRefusal { try custom.save(Purse(id: "b", units: 1)) }
            #expect(custom.save([Purse(id: "b", units: 1)])[0].error is StorageError)
        }
        for store in others + [custom] { #expect(try store.getCollection() == [Purse(id: "a", units: 1)]) }
    }

    private static func expectRefusal(_ body: () throws -> Void) {
        let error = #expect(throws: StorageError.self) { try body() }
        #expect(error?.code == .invalidArgument)
    }

    @Test("No reader finds a part of a transaction", arguments: LocationKind.allCases)
    func halves(_ kind: LocationKind) throws {
        let stores = try stores(kind)
        try stores.purses.save(Purse(id: "a", units: 0))
        try stores.chests.save(Chest(id: "a", units: 0))
        let isOver = Locked(false)
        let reader = DispatchGroup()
        DispatchQueue.global().async(group: reader) {
            do {
                while !isOver.withLock({ $0 }) {
                    // What is read later is not older.
                    let chest = try stores.chests.get(identifier: "a").units
                    let purse = try stores.purses.get(identifier: "a").units
                    let again = try stores.chests.get(identifier: "a").units
                    #expect(chest <= purse && purse <= again)
                    try stores.receipts.transaction {
                        let chest = try stores.chests.get(identifier: "a").units
                        #expect(try stores.purses.get(identifier: "a").units == chest)
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        for number in 1...(kind == .memory ? 20_000 : 100) {
            try stores.purses.transaction {
                try stores.purses.save(Purse(id: "a", units: number))
                try stores.chests.save(Chest(id: "a", units: number))
            }
        }
        isOver.withLock { $0 = true }
        #expect(reader.wait(timeout: .now() + 60) == .success)
    }

    @Test("A task that the closure creates does not take part", arguments: LocationKind.allCases)
    func tasks(_ kind: LocationKind) async throws {
        let stores = try stores(kind)
        var task: Task<Void, any Error>?
        #expect(throws: Refusal.self) {
            try stores.purses.transaction {
                task = Task { try stores.chests.save(Chest(id: "task", units: 1)) }
                try stores.chests.save(Chest(id: "transaction", units: 1))
                throw Refusal()
            }
        }
        try await task?.value
        #expect(try stores.chests.getCollection().map(\.id) == ["task"])
    }

    @Test("Default storage of a test has transactions, too")
    func temporaryStorage() throws {
        for engine in [CodableStore<Purse>.Engine.sqlite, .inMemory] {
            let store = TemporaryStorage.use {
                let store = CodableStore<Purse>(engine: engine)
                #expect(throws: Refusal.self) {
                    try store.transaction {
                        try Purse(id: "a", units: 1).save(engine: engine)
                        #expect(store.exists(identifier: "a"))
                        throw Refusal()
                    }
                }
                #expect(!store.exists(identifier: "a"))
                return store
            }
            if case .inMemory = engine { continue }
            let error = #expect(throws: StorageError.self) { try store.transaction { try store.getCollection() } }
            #expect(error?.code == .placeRemoved)
        }
    }
}
