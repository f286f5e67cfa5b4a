import Bodega
import BodegaSync
import Foundation
import Testing

/// What a pull brings of several collections is from one moment, so that transactions of others are not divided.
@Suite struct PullMomentTests {
    private let database = MemoryStorageEngine()
    private let key = CacheKey("pair")

    private var remote: EngineSyncRemote {
        EngineSyncRemote { [database] in database.collection(named: $0) }
    }

    /// Writes both items of a pair in one transaction.
    @Sendable private func write(_ text: String) async throws {
        let data = Data(text.utf8)
        let batches = ["a", "b"].map { name in
            (engine: database.collection(named: name), batch: StorageBatch([.write(key: key, data: data)]))
        }
        _ = try await StorageBatchGroup.apply(batches.map { ($0.engine, $0.batch) })
    }

    private func pair(_ text: String) -> [String: [CacheKey: Data]] {
        ["a": [key: Data(text.utf8)], "b": [key: Data(text.utf8)]]
    }

    @Test("Snapshots of several collections end at one moment, though a transaction comes between them")
    func transactionBetweenSnapshots() async throws {
        try await write("old")
        let replica = Replica()
        let start: [String: StorageCursor?] = ["a": nil, "b": nil]
        try await remote.pull(start, needing: [:]) { news in
            await replica.receive(news)
            if await replica.ends == 1 { try await write("new") }
        }
        #expect(await replica.items == pair("new"))
        // The places are those of this moment.
        let (places, count) = (await replica.places, await replica.count)
        try await remote.pull(places, needing: [:]) { await replica.receive($0) }
        #expect(await replica.count == count)
    }

    @Test("Items that are needed in any case are from the moment of the others")
    func transactionBetweenNeededItems() async throws {
        try await write("old")
        let replica = Replica()
        let start: [String: StorageCursor?] = ["a": nil, "b": nil]
        try await remote.pull(start, needing: [:]) { await replica.receive($0) }
        let (places, count) = (await replica.places, await replica.count)
        try await remote.pull(places, needing: ["a": [key], "b": [key]]) { news in
            await replica.receive(news)
            if await replica.count == count + 1 { try await write("new") }
        }
        #expect(await replica.items == pair("old"))
        #expect(await replica.count == count + 2)
        try await remote.pull(await replica.places, needing: [:]) { await replica.receive($0) }
        #expect(await replica.items == pair("new"))
    }

    /// What pulls have passed on.
    private actor Replica {
        private(set) var items: [String: [CacheKey: Data]] = [:]
        private(set) var places: [String: StorageCursor?] = [:]
        private(set) var count = 0
        private(set) var ends = 0

        func receive(_ news: SyncNews) {
            switch news {
            case .begin(let collection, let isWhole, _):
                if isWhole { items[collection] = [:] }
            case .items(let news, let collection, _):
                count += news.count
                for (key, data) in news { items[collection, default: [:]][key] = data }
            case .unreadable, .missing: break
            case .end(let collection, let cursor):
                places[collection] = .some(cursor)
                ends += 1
            }
        }
    }
}
