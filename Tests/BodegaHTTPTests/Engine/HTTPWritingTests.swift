import Bodega
import BodegaHTTP
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Writes to servers that spell identifiers and addresses in their own ways, refuse, or close connections.
@Suite @MainActor struct HTTPWritingTests {

    private struct Note: Codable, Sendable, Identifiable, Equatable {
        let id: UUID
        var text: String
    }

    private func url(_ path: String, _ query: [String: String] = [:]) async throws -> URL {
        try await APIServer.shared.value.url(path, query)
    }

    private func requests(_ name: String) async throws -> [String] {
        try await APIServer.shared.value.requests(containing: name).map {
            "\($0.method) \($0.path.prefix { $0 != "?" }.split(separator: "/").dropFirst(2).joined(separator: "/"))"
        }
    }

    @Test(arguments: ["PUT", "DELETE"])
    func `A page of HTML is no success of a change`(_ method: String) async throws {
        let name = UUID().uuidString
        let engine = try HTTPStorageEngine(try await url("items/\(name)", ["portal": method]))
        let (key, data) = (CacheKey("1"), Data(#"{"id": "1"}"#.utf8))
        let error = await #expect(throws: StorageError.self) {
            if method == "PUT" { try await engine.write(data, key: key) } else { try await engine.remove(key: key) }
        }
        #expect(error?.code == .unreachable)
    }

    // MARK: Spellings

    /// A collection with one note, whose identifier the server spells in lower case.
    private func seed(_ name: String, _ note: Note) async throws {
        let id = note.id.uuidString.lowercased()
        try await HTTPStorageEngine(try await url("items/\(name)")).write(
            try JSONEncoder().encode(["id": id, "text": note.text]), key: CacheKey(id))
    }

    @Test(arguments: [[:], ["uuid": "lower"]], [false, true])
    func `An update keeps the server's spelling of a UUID, and deletes nothing`(
        _ query: [String: String], _ isMirrored: Bool
    ) async throws {
        let name = UUID().uuidString
        var note = Note(id: UUID(), text: "Buy milk")
        let id = note.id.uuidString.lowercased()
        try await seed(name, note)
        let engine = try HTTPStorageEngine(try await url("items/\(name)", query))
        var storage: any StorageEngine = engine
        if isMirrored {
            let mirrored = engine.mirrored(to: MemoryStorageEngine(), readingMirror: .first)
            try await mirrored.refresh()
            storage = mirrored
        }
        let store = try await Store<Note>(storage: storage)
        #expect(store.items == [note])
        for text in ["Buy tea", "Buy rice"] {
            note.text = text
            try await store.insert(note)
            #expect(store.items == [note])
            let items = try await engine.fetchAll()
            #expect(items.map(\.key) == [CacheKey(id)])
            let object = try JSONDecoder().decode([String: String].self, from: try #require(items.first).data)
            #expect(object == ["id": id, "text": text])
        }
        #expect(try await requests(name).allSatisfy { !$0.hasPrefix("DELETE") })
        #expect(try await requests(name).filter { $0.hasPrefix("PUT") } == Array(repeating: "PUT \(id)", count: 3))
        try await store.remove(note)
        #expect(try await engine.fetchAll().isEmpty)
        #expect(store.items.isEmpty)
    }

    @Test func `An update that the server refuses leaves the item there`() async throws {
        let name = UUID().uuidString
        let note = Note(id: UUID(), text: "Buy milk")
        try await seed(name, note)
        let store = try await Store<Note>(
            storage: try HTTPStorageEngine(try await url("items/\(name)", ["refuse": "PUT"])))
        let error = await #expect(throws: StorageError.self) {
            try await store.insert(Note(id: note.id, text: "Buy tea"))
        }
        #expect(error?.code == .refused)
        #expect(store.items == [note])
        #expect(try await HTTPStorageEngine(try await url("items/\(name)")).fetchCount() == 1)
        #expect(try await requests(name).allSatisfy { !$0.hasPrefix("DELETE") })
    }

    /// A note whose identifier is the server's without leading zeros.
    private struct Numbered: Codable, Sendable, Identifiable, Equatable {
        struct ID: Codable, Hashable, Sendable, CustomStringConvertible {
            let description: String
            init(_ text: String) { description = text }
            init(from decoder: any Decoder) throws {
                description = String(try decoder.singleValueContainer().decode(String.self).drop { $0 == "0" })
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(description)
            }
        }
        let id: ID
        var text: String
        var cacheIdentifier: String { id.description }
    }

    @Test func `What replaces an item of another identifier is accepted before the item is removed`() async throws {
        let name = UUID().uuidString
        let writer = try HTTPStorageEngine(try await url("items/\(name)"))
        try await writer.write(Data(#"{"id": "007", "text": "a"}"#.utf8), key: CacheKey("007"))
        let refusing = try await Store<Numbered>(
            storage: try HTTPStorageEngine(try await url("items/\(name)", ["refuse": "PUT"])),
            cacheIdentifier: \.cacheIdentifier)
        let changed = Numbered(id: .init("7"), text: "b")
        await #expect(throws: StorageError.self) { try await refusing.insert(changed) }
        #expect(try await writer.fetchKeys() == [CacheKey("007")])
        let store = try await Store<Numbered>(storage: writer, cacheIdentifier: \.cacheIdentifier)
        try await store.insert(changed)
        #expect(try await writer.fetchKeys() == [CacheKey("7")])
        let changes = try await requests(name).filter { !$0.hasPrefix("GET") }.suffix(2)
        #expect(Array(changes) == ["PUT 7", "DELETE 007"])
    }

    @Test func `Identifiers that differ in more than the case of a UUID are not the same`() async throws {
        let engine = try HTTPStorageEngine(try await url("items/\(UUID().uuidString)"))
        for (id, key) in [("A", "a"), (UUID().uuidString, UUID().uuidString)] {
            let error = await #expect(throws: StorageError.self) {
                try await engine.write(try JSONEncoder().encode(["id": id]), key: CacheKey(key))
            }
            #expect(error?.code == .encodingFailed)
        }
    }

    // MARK: Addresses

    @Test func `Addresses of items can end with a slash`() async throws {
        let name = UUID().uuidString
        for path in ["items/\(name)/", "items/\(name)"] {
            var options = HTTPStorageOptions()
            options.itemAddressesEndWithSlash = true
            let items = try HTTPStorageEngine(try await url(path, ["slash": "1"]), options: options)
            let item = Data(#"{"id": "a b"}"#.utf8)
            try await items.write(item, key: CacheKey("a b"))
            #expect(try await items.fetch(key: CacheKey("a b")) == item)
            try await items.remove(key: CacheKey("a b"))
            #expect(try await items.fetch(key: CacheKey("a b")) == nil)
        }
        #expect(Set(try await requests(name)) == ["PUT a%20b", "GET a%20b", "DELETE a%20b"])
        let others = try HTTPStorageEngine(try await url("items/\(name)", ["slash": "1"]))
        await #expect(throws: StorageError.self) { try await others.fetch(key: CacheKey("1")) }
    }

    @Test(arguments: ["a/b", "..", ".", "../x", "a\\b", "\u{0}", "a\r\nb"])
    func `An item without an address is the only one that can't be sent`(_ id: String) async throws {
        let objects = [["id": "1"], ["id": id], ["id": "2"]]
        let body = try JSONEncoder().encode(objects)
        let changes = Locked<[String]>([])
        let transport = Transport { request in
            let change = "\(request.method.rawValue) \(request.url.path)"
            if request.method != .get { changes.withLock { $0.append(change) } }
            return HTTPStorageResponse(status: 200, body: body)
        }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: transport)
        #expect(try await engine.fetchKeys() == [CacheKey("1"), CacheKey(id), CacheKey("2")])
        #expect(try await engine.fetch(key: CacheKey(id)) == JSONEncoder().encode(["id": id]))
        #expect(
            try await engine.fetch(keys: [CacheKey("2"), CacheKey(id)]).map(\.key) == [CacheKey("2"), CacheKey(id)])
        let store = try await Store<Named>(storage: engine)
        #expect(store.items.map(\.id) == ["1", id, "2"])
        for body in [
            { try await store.insert(Named(id: id)) }, { try await store.remove(Named(id: id)) },
            { try await engine.removeAllData() }, { _ = try await engine.fetchDates(key: CacheKey(id)) },
        ] as [@MainActor () async throws -> Void] {
            let error = await #expect(throws: StorageError.self) { try await body() }
            #expect(error?.code == .invalidArgument)
            #expect(error?.key == CacheKey(id))
            #expect(changes.withLock { $0 } == [])
        }
        try await store.insert(Named(id: "1"))
        try await store.remove(Named(id: "2"))
        #expect(changes.withLock { $0 } == ["PUT /notes/1", "DELETE /notes/2"])
    }

    private struct Named: Codable, Sendable, Identifiable { let id: String }

    @Test func `The largest limits are no limits`() async throws {
        var options = HTTPStorageOptions()
        (options.timeLimit, options.maximumConcurrentRequests) = (.seconds(Int64.max), .max)
        let engine = try HTTPStorageEngine(
            try await url("closing/\(UUID().uuidString)"), options: options, transport: URLSessionTransport())
        let keys = ["1", "2"].map { CacheKey($0) }
        for key in keys { try await engine.write(Data(#"{"id":"\#(key.rawValue)"}"#.utf8), key: key) }
        #expect(try await engine.fetch(keys: keys + [CacheKey("3")]).map(\.key) == keys)
    }

    // MARK: Connections

    @Test(arguments: [10, 1 << 20])
    func `A write on a connection that the server closes is sent again`(_ size: Int) async throws {
        let name = UUID().uuidString
        var options = HTTPStorageOptions()
        options.timeLimit = .seconds(20)
        let engine = try HTTPStorageEngine(
            try await url("closing/\(name)"), options: options, transport: URLSessionTransport())
        let text = String(repeating: "x", count: size)
        for id in ["1", "2", "3"] {
            try await engine.write(try JSONEncoder().encode(["id": id, "text": text]), key: CacheKey(id))
        }
        #expect(try await engine.fetchKeys() == [CacheKey("1"), CacheKey("2"), CacheKey("3")])
        try await engine.remove(key: CacheKey("2"))
        let expected = ["PUT 1", "CLOSED 2", "PUT 2", "CLOSED 3", "PUT 3", "CLOSED", "GET", "CLOSED 2", "DELETE 2"]
        #expect(try await requests(name).map { $0.trimmingCharacters(in: .whitespaces) } == expected)
    }

    @Test func `A request on a new connection is not sent again`() async throws {
        let mark = UUID().uuidString
        let engine = try HTTPStorageEngine(
            try await url("fault/raw", ["hex": "", "mark": mark]), transport: URLSessionTransport())
        let error = await #expect(throws: StorageError.self) { try await engine.fetchAll() }
        #expect(error?.code == .unreachable)
        #expect(try await APIServer.shared.value.requests(containing: mark).count == 1)
    }
}
