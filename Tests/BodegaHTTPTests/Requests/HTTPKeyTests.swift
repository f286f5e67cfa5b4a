import Bodega
import BodegaHTTP
import BodegaTesting
import Foundation
import Testing

/// Identifiers as parts of addresses, and headers.
@Suite struct HTTPKeyTests {

    private static let texts =
        HostileTexts.all + [
            "..", ".", "...", "a/b", "../x", "..\\x", "%2e%2e%2fx", "..%2f", "a?b=c#d", "a;b", "a b", "a+b", "é",
            "e\u{301}",
            "🦙", "~", "-", "a:b@c", "[x]", "http://example.com", "\u{7F}", "a\r\nX-Header: 1",
        ]

    @Test(arguments: texts)
    func `An identifier is one segment of an address or is refused`(_ text: String) async throws {
        let server = try await APIServer.shared.value
        let name = UUID().uuidString
        let engine = try HTTPStorageEngine(try server.url("items/\(name)"))
        let key = CacheKey(text)
        let item = try JSONEncoder().encode(["id": text])
        // Servers may take these for several segments, or for none.
        let isHostile = text.unicodeScalars.contains { $0.value < 32 || "/\\\u{7F}".unicodeScalars.contains($0) }
        if isHostile || ["", ".", ".."].contains(text) {
            let error = await #expect(throws: StorageError.self) { try await engine.write(item, key: key) }
            #expect(error?.code == .invalidArgument)
            #expect(try await server.requests(containing: name).isEmpty)
            return
        }
        try await engine.write(item, key: key)
        #expect(try await engine.fetch(key: key) == item)
        #expect(try await engine.fetchAll().map(\.key) == [key])
        #expect(try await engine.fetchDates(key: key) != nil)
        try await engine.remove(key: key)
        #expect(try await engine.fetchKeys() == [])
        for request in try await server.requests(containing: name) {
            #expect(request.path.split(separator: "/").count <= 3)
            #expect(!request.path.contains("?"))
        }
    }

    @Test func `Keys of other kinds have no items`() async throws {
        let transport = Transport { _ in throw StorageError(.inputOutput, "A request was sent.") }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: transport)
        for key in [CacheKey(verbatim: "1"), CacheKey(rawValue: "1", kind: .url), CacheKey("")] {
            #expect(try await engine.fetch(key: key) == nil)
            #expect(try await engine.fetchKeys(among: [key]).isEmpty)
            try await engine.remove(key: key)
            let error = await #expect(throws: StorageError.self) {
                try await engine.write(Data(#"{"id": "1"}"#.utf8), key: key)
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test(arguments: [
        "", "1", "[]", "{}", #"{"id": "2"}"#, #"{"id": 1.0}"#, #"{"id": "1"} {}"#, #"{"id": "1", "id": "1"}"#,
    ])
    func `An item that is not the object of its key is refused, and others of its batch with it`(_ item: String)
        async throws
    {
        let transport = Transport { _ in throw StorageError(.inputOutput, "A request was sent.") }
        let engine = try HTTPStorageEngine(try #require(URL(string: "http://localhost/notes")), transport: transport)
        let error = await #expect(throws: StorageError.self) {
            try await engine.apply([.remove(key: CacheKey("0")), .write(key: CacheKey("1"), data: Data(item.utf8))])
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.key == CacheKey("1"))
    }

    @Test(arguments: [
        "ftp://example.com/notes", "notes", "/notes", "http:///notes", "https://user:password@example.com/notes",
        "https://example.com/notes#all", "file:///notes",
    ])
    func `An address that is not one of a collection is refused`(_ text: String) throws {
        let error = #expect(throws: StorageError.self) {
            try HTTPStorageEngine(try #require(URL(string: text)))
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.description.contains("password@") == false)
    }

    @Test(arguments: [
        ["A\r\nB": "1"], ["A": "secret\r\nB: 1"], ["A": "secret\n"], ["": "secret"], ["A:": "secret"],
        ["A": "secret\0"],
    ])
    func `A header that would be several is refused`(_ headers: [String: String]) async throws {
        let transport = Transport { _ in throw StorageError(.inputOutput, "A request was sent.") }
        let engine = try HTTPStorageEngine(
            try #require(URL(string: "http://localhost/notes")), transport: transport
        ) { headers }
        let error = await #expect(throws: StorageError.self) { try await engine.fetchAll() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `Headers are requested each time, and replace those of the engine`() async throws {
        struct Expired: Error {}
        let number = Locked(0)
        let seen = Locked<[[String: String]]>([])
        let transport = Transport { request in
            seen.withLock { $0.append(request.headers) }
            return HTTPStorageResponse(status: 200, body: Data("[]".utf8))
        }
        let engine = try HTTPStorageEngine(
            try #require(URL(string: "http://localhost/notes")), transport: transport
        ) {
            let number = number.withLock { number in
                number += 1
                return number
            }
            if number == 3 { throw Expired() }
            return ["authorization": "Bearer \(number)", "accept": "application/vnd.api+json"]
        }
        _ = try await engine.fetchAll()
        _ = try await engine.fetchAll()
        await #expect(throws: Expired.self) { try await engine.fetchAll() }
        let headers = seen.withLock { $0 }
        #expect(headers.map { $0["authorization"] } == ["Bearer 1", "Bearer 2"])
        #expect(headers.allSatisfy { $0.count == 2 && $0["accept"] == "application/vnd.api+json" })
    }
}
