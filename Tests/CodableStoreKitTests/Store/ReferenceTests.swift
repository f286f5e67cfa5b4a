import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// What follows when a store of this module removes an object that others name.
@Suite struct ReferenceTests {

    private let folder = TemporaryFolder()

    private struct Refusal: Error {}

    @Test("Objects that name a removed one go with it, in the same transaction, and observers hear of them")
    func cascade() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let others = try engine.collection(named: "chests")
        // A chest names the purse with as many units, and a purse the one whose units are its identifier.
        try await others.declareReferences([
            StorageReference("units", to: "", targetPath: "units", onRemoval: .remove)
        ])
        let purses = CodableStore<Purse>(engine: .sqlite(engine))
        let chests = CodableStore<Chest>(engine: .sqlite(others))
        for units in 1...3 { try purses.save(Purse(id: "\(units)", units: units)) }
        for number in 0..<6 { try chests.save(Chest(id: "\(number)", units: number % 3 + 1)) }
        let events = Locked<[String]>([])
        chests.observeCollection(on: .immediate) { event in
            if case .deleted = event { events.withLock { $0.append(event.object.id) } }
        }
        _ = try chests.getCollection()

        #expect(throws: Refusal.self) {
            try purses.transaction {
                try purses.delete(identifier: "1")
                #expect(try chests.getCollection().map(\.units).sorted() == [2, 2, 3, 3])
                throw Refusal()
            }
        }
        #expect(try chests.getCollection().count == 6)
        try purses.delete(identifier: "1")
        #expect(try chests.getCollection().map(\.units).sorted() == [2, 2, 3, 3])
        try purses.transaction {
            try purses.delete(identifier: "2")
            try purses.save(Purse(id: "4", units: 4))
        }
        #expect(try chests.getCollection().map(\.units) == [3, 3])
        #expect(try purses.getCollection().map(\.id) == ["3", "4"])
        try purses.deleteCollection()
        #expect(try chests.getCollection().isEmpty)
        while events.withLock({ $0.count }) < 6 { await Task.yield() }
        #expect(Set(events.withLock { $0 }) == Set((0..<6).map { "\($0)" }))
    }

    @Test("A removal is refused while an object names the removed one, and decided when it is made")
    func refusal() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let others = try engine.collection(named: "chests")
        try await others.declareReferences([
            StorageReference("units", to: "", targetPath: "units", onRemoval: .refuse)
        ])
        let purses = CodableStore<Purse>(engine: .sqlite(engine))
        let chests = CodableStore<Chest>(engine: .sqlite(others))
        try purses.save(Purse(id: "1", units: 1))
        try chests.save(Chest(id: "a", units: 1))
        func isRefused(_ body: () throws -> Void) -> Bool {
            do { try body() } catch { return (error as? StorageError)?.code == .referenced }
            return false
        }
        #expect(isRefused { try purses.delete(identifier: "1") })
        // The one that names it goes too late.
        #expect(
            isRefused {
                try purses.transaction {
                    try purses.delete(identifier: "1")
                    try chests.delete(identifier: "a")
                }
            })
        #expect(try purses.getCollection().count == 1)
        #expect(try chests.getCollection().count == 1)
        try purses.transaction {
            try chests.delete(identifier: "a")
            try purses.delete(identifier: "1")
        }
        #expect(try purses.getCollection().isEmpty)
        #expect(try chests.getCollection().isEmpty)
    }

    @Test("Objects that name others of their own collection go, too")
    func ownCollection() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.declareReferences([StorageReference("units", to: "", targetPath: "id", onRemoval: .remove)])
        // The identifiers in JSON are texts, the units numbers, which name nothing.
        let purses = CodableStore<Purse>(engine: .sqlite(engine))
        for number in 1...3 { try purses.save(Purse(id: "\(number)", units: number - 1)) }
        try purses.delete(identifier: "1")
        #expect(try purses.getCollection().map(\.id) == ["2", "3"])

        try await engine.declareReferences([
            StorageReference("units", to: "", targetPath: "units", onRemoval: .remove)
        ])
        try purses.save(Purse(id: "twin", units: 1))
        try purses.delete(identifier: "2")
        #expect(try purses.getCollection().map(\.id) == ["3"])
        try purses.save(Purse(id: "new", units: 9))
        #expect(try purses.getCollection().map(\.id) == ["3", "new"])
    }
}
