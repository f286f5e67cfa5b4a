import Bodega
import BodegaSync
import Foundation
import Testing

@Suite struct SnapshotMomentTests {

    @Test("Snapshots of several collections end at one moment, though a transaction comes between them")
    func transactionBetweenSnapshots() async throws {
        let database = MemoryStorageEngine()
        let (a, b) = (database.collection(named: "a"), database.collection(named: "b"))
        let key = CacheKey("pair")
        let remote = EngineSyncRemote { database.collection(named: $0) }
        @Sendable func write(_ text: String) async throws {
            let data = Data(text.utf8)
            _ = try await StorageBatchGroup.apply([a, b].map { ($0, StorageBatch([.write(key: key, data: data)])) })
        }
        try await write("old")
        let replica = Replica()
        let start: [String: StorageCursor?] = ["a": nil, "b": nil]
        try await remote.pull(start, needing: [:]) { news in
            if await replica.receive(news) == 1 { try await write("new") }
        }
        #expect(await replica.items == ["a": [key: Data("new".utf8)], "b": [key: Data("new".utf8)]])
        // The places are those of this moment.
        let (places, count) = (await replica.places, await replica.count)
        try await remote.pull(places, needing: [:]) { _ = await replica.receive($0) }
        #expect(await replica.count == count)
    }

    /// What a pull has passed on.
    private actor Replica {
        private(set) var items: [String: [CacheKey: Data]] = [:]
        private(set) var places: [String: StorageCursor?] = [:]
        private(set) var count = 0
        private var ends = 0

        /// - Returns: The number of collections that have ended if this is an end.
        func receive(_ news: SyncNews) -> Int? {
            switch news {
            case .begin(let collection, let isWhole):
                if isWhole { items[collection] = [:] }
            case .items(let news, let collection, _):
                count += news.count
                for (key, data) in news { items[collection, default: [:]][key] = data }
            case .unreadable: break
            case .end(let collection, let cursor):
                places[collection] = .some(cursor)
                ends += 1
                return ends
            }
            return nil
        }
    }
}
