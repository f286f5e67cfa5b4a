import AsyncHTTPClient
import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("What a client sees through a server")
struct ScopedServerTests {

    private struct Item: Codable, Equatable {
        var owner: String
        var rank: Int
    }

    /// What a follower knows from a snapshot and the changes after it.
    private struct Replica {
        var items: [CacheKey: Data] = [:]
        var cursor: StorageCursor?

        mutating func follow(_ engine: RemoteStorageEngine) async throws {
            if let cursor,
                let delta = try await engine.log?.fetchChanges(
                    ChangesRequest(since: cursor, needsItems: true)
                ).value
            {
                for change in delta.changes { items[change.key] = nil }
                for item in delta.items { items[item.key] = item.data }
                self.cursor = delta.cursor
            } else {
                let snapshot = try await engine.fetchSnapshot()
                items = Dictionary(uniqueKeysWithValues: snapshot.items.map { ($0.key, $0.data) })
                cursor = snapshot.cursor
            }
        }
    }

    @Test("is what a filter over all items leaves, in each channel", arguments: 0..<4)
    func channels(_ round: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database: any StorageEngine =
            round.isMultiple(of: 2)
            ? MemoryStorageEngine() : try SQLiteStorageEngine(opening: .init(url: folder))
        let access = AccessTokens(storage: MemoryStorageEngine())
        let server = try await TestServer(access: access, ["notes": database])
        let index = StorageIndex("rank")
        try await database.backend.createIndex(index)
        var clients: [(owner: String, token: String, engine: RemoteStorageEngine, replica: Replica)] = []
        for owner in ["ada", "bob"] {
            let grant = AccessGrant(collection: "notes", matching: "@.owner == \"\(owner)\"")
            let token = try await access.create(name: owner, grants: [grant]).token
            clients.append((owner, token, try await server.engine(token: token), Replica()))
        }
        // The items in insertion order.
        var model: [(key: CacheKey, data: Data)] = []
        let keys = ["a", "b/c", "%2F", "é", "d e", "f?g#h"].map { CacheKey($0) }
        for step in 0..<60 {
            let key = keys.randomElement(using: &random)!
            let owner = ["ada", "bob", "eve"].randomElement(using: &random)!
            let data = try JSONEncoder().encode(Item(owner: owner, rank: .random(in: 0...3, using: &random)))
            let place = model.firstIndex { $0.key == key }
            // Others write as well, without the server.
            let client = clients.randomElement(using: &random)!
            let isDirect = Bool.random(using: &random)
            let old = place.map { model[$0].data }
            func isIn(_ data: Data) throws -> Bool {
                try JSONDecoder().decode(Item.self, from: data).owner == client.owner
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                if isDirect {
                    try await database.remove(key: key)
                } else {
                    try await client.engine.remove(key: key)
                }
                if let place, try isDirect || isIn(model[place].data) { model.remove(at: place) }
            } else {
                let mayWrite = try isIn(data) && (old.map { try isIn($0) } ?? true)
                if isDirect {
                    try await database.write(data, key: key)
                } else if mayWrite {
                    try await client.engine.write(data, key: key)
                } else {
                    let error = await #expect(throws: StorageError.self) {
                        try await client.engine.write(data, key: key)
                    }
                    #expect(error?.code == .permissionDenied)
                }
                if isDirect || mayWrite {
                    if let place { model[place].data = data } else { model.append((key, data)) }
                }
            }
            for number in clients.indices {
                try await check(&clients[number], model, keys, server, index, "seed \(seed), step \(step)")
            }
        }
    }

    private func check(
        _ client: inout (owner: String, token: String, engine: RemoteStorageEngine, replica: Replica),
        _ model: [(key: CacheKey, data: Data)], _ keys: [CacheKey], _ server: TestServer, _ index: StorageIndex,
        _ place: Comment
    ) async throws {
        let own = try model.filter { try JSONDecoder().decode(Item.self, from: $0.data).owner == client.owner }
        let engine = client.engine
        // List and count.
        let all = try await engine.fetchAll()
        #expect(all.map(\.key) == own.map(\.key) && all.map(\.data) == own.map(\.data), place)
        #expect(try await engine.fetchCount() == own.count, place)
        #expect(try await engine.count(.all(after: nil)) == own.count, place)
        // Sort.
        let ranked = try own.map { (rank: try JSONDecoder().decode(Item.self, from: $0.data).rank, key: $0.key) }
            .enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
        let sorted = try await scanned(
            engine, .range(index, from: .start, to: .before(.none), isDescending: false, after: nil))
        #expect(sorted.map(\.key) == ranked.map(\.key), place)
        #expect(sorted.map(\.sortKey) == ranked.map { .integer(Int64($0.rank)) }, place)
        // Snapshot and changes.
        try await client.replica.follow(engine)
        #expect(client.replica.items == Dictionary(uniqueKeysWithValues: own.map { ($0.key, $0.data) }), place)
        // Single items with their tags, by another client of HTTP.
        for key in keys {
            let data = own.first { $0.key == key }?.data
            #expect(try await engine.fetch(key: key) == data, place)
            #expect(try await (engine.fetchDates(key: key) != nil) == (data != nil), place)
            let name = try #require(key.rawValue.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/items/\(name)")
            request.headers.add(name: "Authorization", value: "Bearer \(client.token)")
            let tag = data.map { "\"" + Data(Data(SHA256.hash(data: $0)).prefix(18)).base64EncodedString() + "\"" }
            if let tag { request.headers.add(name: "If-None-Match", value: tag) }
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
            #expect(response.status == (data == nil ? .notFound : .notModified), place)
            #expect(response.headers.first(name: "ETag") == tag, place)
        }
    }

    private func scanned(_ engine: RemoteStorageEngine, _ scan: StorageScan) async throws -> [StorageItem] {
        let found = Found()
        _ = try await engine.scan(ScanRequest([scan], fields: [.place])) {
            found.reset()
            return { _, item in
                found.add(item)
                return true
            }
        }
        return found.items
    }

    /// Items that a scan passes on, one at a time.
    private final class Found: @unchecked Sendable {
        private(set) var items: [StorageItem] = []
        func reset() { items = [] }
        func add(_ item: StorageItem) { items.append(item) }
    }
}
