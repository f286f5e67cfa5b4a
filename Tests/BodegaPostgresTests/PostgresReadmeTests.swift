#if Postgres
import Bodega
import BodegaPostgres
import Boutique
import Foundation
import TestSupport
import Testing

/// The snippet of the README, compiled and run.
@Suite
@MainActor
struct PostgresReadmeTests {

    private struct Note: Codable, Sendable, Equatable {
        var id: String
    }

    @Test func `The snippet moves a store to a server, with its order and dates`() async throws {
        let folder = TemporaryFolder()
        let address = try await Schemas.shared.schema().url
        let local = try SQLiteStorageEngine(opening: folder.directory)
        let before = try await Store<Note>(storage: local, cacheIdentifier: \.id)
        try await before.insert((0..<12_000).map { Note(id: "\($0 * 7_919 % 12_000)") })

        // `local` is the engine that the store had, `address` such as "postgres://app@db.example.com/notes".
        let shared = try await PostgresStorageEngine(connecting: address, collection: "notes")
        let keys = try await local.fetchKeys()
        for start in stride(from: 0, to: keys.count, by: 10_000) {
            let part = Array(keys[start..<min(start + 10_000, keys.count)])
            try await shared.write(items: local.fetchItems(keys: part))
        }
        let store = try await Store<Note>(storage: shared, cacheIdentifier: \.id)  // live on every machine

        #expect(store.items == before.items && store.items.count == 12_000)
        let dates = try await shared.fetchAllDates()
        let former = try await local.fetchAllDates()
        #expect(dates.map(\.key) == former.map(\.key) && dates.map(\.dates) == former.map(\.dates))
    }
}
#endif
