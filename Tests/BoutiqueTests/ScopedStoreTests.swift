import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// Stores and live queries of a client that sees some of the items only.
@MainActor
@Suite struct ScopedStoreTests {

    struct Letter: Codable, Sendable, Equatable, Identifiable, Queryable {
        var id: String
        var owner: String
        var rank = 0

        static let indexes = [Index("rank", \Letter.rank)]
    }

    private let folder = TemporaryFolder()

    @Test func `A store and a live query show what is in the scope, as it enters and leaves`() async throws {
        let database = try SQLiteStorageEngine(openingFile: folder.file("letters"), durability: .relaxed)
        let all = try await Store<Letter>(storage: database)
        try await all.insert([
            Letter(id: "1", owner: "ada"), Letter(id: "2", owner: "bob"), Letter(id: "3", owner: "ada", rank: 1),
        ])
        let scoped = database.scoped(to: StorageScope(where: "owner", equals: "ada"))
        let own = try await Store<Letter>(storage: scoped)
        #expect(own.items.map(\.id) == ["1", "3"])
        let window = LiveQuery(
            Query<Letter>(sortedBy: SortDescriptor(\.rank, order: .reverse)),
            in: ObjectStorage(storage: scoped, coder: .json), limit: 10)
        try await window.itemsHaveLoaded()
        #expect(window.items.map(\.id) == ["3", "1"])

        // One leaves, one enters, one is changed and stays away.
        try await all.insert(Letter(id: "3", owner: "bob"))
        try await all.insert(Letter(id: "4", owner: "ada", rank: 2))
        try await all.insert(Letter(id: "2", owner: "carol"))
        try await waitUntil("the store and the window show it") {
            own.items.map(\.id) == ["1", "4"] && window.items.map(\.id) == ["4", "1"]
        }

        // The client's own changes, and one that it may not make.
        try await own.insert(Letter(id: "5", owner: "ada", rank: 1))
        await #expect(throws: StorageError.self) { try await own.insert(Letter(id: "6", owner: "bob")) }
        await #expect(throws: StorageError.self) { try await own.insert(Letter(id: "2", owner: "ada")) }
        #expect(own.items.map(\.id) == ["1", "4", "5"])
        try await own.removeAll()
        try await waitUntil("the window shows it") { window.items.isEmpty }
        try await waitUntil("the other store shows it") { Set(all.items.map(\.id)) == ["2", "3"] }
    }
}
