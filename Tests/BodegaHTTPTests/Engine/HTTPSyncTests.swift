import Bodega
import BodegaHTTP
import BodegaSync
import Foundation
import TestSupport
import Testing

/// Synchronization with an API in Python that has entity tags.
@Suite struct HTTPSyncTests {
    private let name = UUID().uuidString

    private func api(_ query: [String: String] = [:]) async throws -> HTTPStorageEngine {
        var options = HTTPStorageOptions()
        options.usesEntityTags = true
        let query = ["tags": "strong"].merging(query) { $1 }
        return try HTTPStorageEngine(try await APIServer.shared.value.url("items/\(name)", query), options: options)
    }

    private func replica(
        _ query: [String: String] = [:]
    ) async throws -> (sync: StorageSync, items: SyncedStorageEngine) {
        let (local, api) = (MemoryStorageEngine(), try await api(query))
        let remote = EngineSyncRemote(maximumItems: 1, signalsChanges: false) { _ in api }
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: remote)
        return (sync, try await sync.collection(named: "items"))
    }

    private func object(_ engine: any StorageBackend, _ id: String) async throws -> [String: Int]? {
        guard let data = try await engine.fetch(key: CacheKey(id)) else { return nil }
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return object.compactMapValues { $0 as? Int }
    }

    @Test(arguments: [[:], ["form": "indented"]])
    func `Two replicas of an API agree, also after both have changed an item`(_ query: [String: String]) async throws {
        let (ada, bob) = (try await replica(query), try await replica(query))
        for number in 1...5 {
            let data = Data(#"{"id": "\#(number)", "a": 1, "b": 1}"#.utf8)
            try await ada.items.write(data, key: CacheKey("\(number)"))
        }
        try await ada.sync.settled()
        try await bob.sync.settled()
        #expect(try await bob.items.fetchCount() == 5)
        await ada.sync.pause()
        await bob.sync.pause()
        try await ada.items.write(Data(#"{"id": "1", "a": 2, "b": 1}"#.utf8), key: CacheKey("1"))
        try await bob.items.write(Data(#"{"id": "1", "a": 1, "b": 2}"#.utf8), key: CacheKey("1"))
        try await bob.items.remove(key: CacheKey("2"))
        await ada.sync.resume()
        await bob.sync.resume()
        try await ada.sync.settled()
        try await bob.sync.settled()
        try await ada.sync.settled()
        for engine in [ada.items as any StorageBackend, bob.items, try await api()] {
            #expect(try await object(engine, "1") == ["a": 2, "b": 2])
            #expect(try await object(engine, "2") == nil)
            #expect(try await engine.fetchCount() == 4)
        }
    }

    /// With such APIs, no condition is ever met, however often the item is read again.
    @Test(arguments: [["form": "brief"], ["tags": "never"]])
    func `A change that an API can never accept is parked, and others go on`(_ query: [String: String]) async throws {
        let api = try await api()
        for id in ["1", "2"] { try await api.write(Data(#"{"id": "\#(id)", "a": 1, "b": 1}"#.utf8), key: CacheKey(id)) }
        let ada = try await replica(query)
        try await ada.sync.settled()
        try await ada.items.write(Data(#"{"id": "1", "a": 2, "b": 1}"#.utf8), key: CacheKey("1"))
        if query["tags"] == nil {
            try await ada.items.write(Data(#"{"id": "3", "a": 3}"#.utf8), key: CacheKey("3"))
        }
        try await ada.sync.settled()
        #expect(await ada.sync.status.parked == 1)
        #expect(try await ada.sync.parked().map(\.key) == [CacheKey("1")])
        #expect(try await object(api, "1") == ["a": 1, "b": 1])
        #expect(try await object(api, "3") == (query["tags"] == nil ? ["a": 3] : nil))
        #expect(try await object(ada.items, "1")?["a"] == 2)
        let requests = try await APIServer.shared.value.requests(containing: name)
        #expect(requests.count < 60)
    }

    private func write(_ ids: [Int], a: Int, to engine: some StorageEngine) async throws {
        for id in ids { try await engine.write(Data(#"{"id": "\#(id)", "a": \#(a)}"#.utf8), key: CacheKey("\(id)")) }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["html", "empty", "204", "304", "403", "400", "302", "503"])
    func `What was changed while something else answered for the server is sent afterwards`(
        _ answer: String
    ) async throws {
        let server = try await APIServer.shared.value
        let api = try await api()
        try await write([1, 2, 3], a: 1, to: api)
        let ada = try await replica(["away": name, "answer": answer])
        try await ada.sync.settled()
        try await server.setMark(name, true)
        try await write([1, 4], a: 2, to: ada.items)
        try await ada.items.remove(key: CacheKey("3"))
        // Each of them was tried.
        for id in [1, 3, 4] {
            try await waitUntil("item \(id) is asked for") {
                await ada.sync.syncNow()
                return try await server.requests(containing: "\(name)/\(id)").contains { $0.path.contains("away") }
            }
        }
        try await waitUntil("the failure is shown") { await ada.sync.status.failure != nil }
        #expect(await ada.sync.status.parked == 0)
        try await server.setMark(name, false)
        await ada.sync.syncNow()
        try await ada.sync.settled()
        #expect(await ada.sync.status.parked == 0)
        for engine in [ada.items as any StorageBackend, api] {
            for (id, a) in [(1, 2), (2, 1), (3, nil), (4, 2)] { #expect(try await object(engine, "\(id)")?["a"] == a) }
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["html", "empty", "403", "400", "500"])
    func `An item that can't be read by itself holds up no other`(_ answer: String) async throws {
        let api = try await api()
        try await write([1, 2, 3], a: 1, to: api)
        let ada = try await replica(["unreadable": "1", "answer": answer])
        try await ada.sync.settled()
        try await write([1, 2], a: 2, to: ada.items)
        try await waitUntil("the other change has arrived") { try await object(api, "2")?["a"] == 2 }
        try await write([3], a: 3, to: api)
        try await waitUntil("the news has arrived") {
            await ada.sync.syncNow()
            return try await object(ada.items, "3")?["a"] == 3
        }
        #expect(try await object(ada.items, "1")?["a"] == 2)
        #expect(try await object(api, "1")?["a"] == 1)
        if answer == "500" { return }
        try await ada.sync.settled()
        #expect(try await ada.sync.parked().map(\.key) == [CacheKey("1")])
    }
}
