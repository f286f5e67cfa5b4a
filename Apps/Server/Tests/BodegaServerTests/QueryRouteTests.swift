import AsyncHTTPClient
import Bodega
import BodegaServer
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@Suite("Queries of clients without an engine")
struct QueryRouteTests {

    private struct Note: Codable, Equatable, Sendable {
        var id: Int
        var owner: String
        var rank: Int?
        var title: String
    }

    private struct Page {
        var status: UInt
        var notes: [Note] = []
        var next: String?
        var count: Int?
        var text: String
    }

    /// Sends a query by a client that shares no code with ours.
    private func send(
        _ server: TestServer, _ query: [String: Any], collection: String = "notes", token: String? = nil
    ) async throws -> Page {
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/\(collection)/query")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: query)))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 64 << 20))
        var page = Page(status: response.status.code, text: text)
        guard response.status == .ok else { return page }
        var isComplete = false
        for line in text.split(separator: "\n") {
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            isComplete = object["end"] as? Bool ?? false
            if isComplete {
                (page.next, page.count) = (object["next"] as? String, object["count"] as? Int)
            } else {
                let value = try JSONSerialization.data(withJSONObject: object["value"] as Any)
                page.notes.append(try JSONDecoder().decode(Note.self, from: value))
            }
        }
        #expect(isComplete)
        return page
    }

    /// All pages of a query.
    private func all(
        _ server: TestServer, _ query: [String: Any], limit: Int, token: String?
    ) async throws -> [Note] {
        var (query, notes) = (query, [Note]())
        query["limit"] = limit
        while true {
            let page = try await send(server, query, token: token)
            #expect(page.notes.count <= limit)
            notes += page.notes
            guard let next = page.next else { return notes }
            #expect(page.notes.count == limit)
            query["after"] = next
        }
    }

    @Test("are what Swift's filter and sort leave, with and without indexes and grants", arguments: [false, true])
    func random(_ hasIndexes: Bool) async throws {
        let seed = ProcessInfo.processInfo.environment["EMPORIUM_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999)
        print("queries over HTTP: EMPORIUM_SEED=\(seed)")
        var generator = Generator(state: seed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try SQLiteStorageEngine(
            openingFile: folder.appendingPathComponent("notes.db"), durability: .relaxed)
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let engine = try database.collection(named: "notes")
        let server = try await TestServer(access: tokens, ["notes": engine])
        let titles = ["", "a", "b", "é", "e\u{301}", "z\"\\", "\u{1F600}", "\u{FFFF}"]
        let notes = (0..<200).map { id in
            Note(
                id: id, owner: ["ada", "bob"].randomElement(using: &generator) ?? "",
                rank: (0..<9).randomElement(using: &generator), title: titles.randomElement(using: &generator) ?? "")
        }
        for note in notes {
            try await engine.write(JSONEncoder().encode(note), key: CacheKey("\(note.id)"))
        }
        if hasIndexes {
            let paths = [["rank"], ["title"], ["owner", "rank"], ["rank", "title"]]
            for path in paths {
                let members = path.map { StorageIndex.Member($0, isForText: false) }
                try await engine.createIndex(StorageIndex(members[0], Array(members.dropFirst())))
            }
        }
        let filters: [(text: String?, isMet: @Sendable (Note) -> Bool)] = [
            (nil, { _ in true }), ("@.rank >= 4", { $0.rank.map { $0 >= 4 } ?? false }),
            (#"@.owner == "ada" && @.rank != 3"#, { $0.owner == "ada" && $0.rank != 3 }),
            (
                #"@.title == "\u00e9" || !(@.rank > 2)"#,
                { note in
                    Array(note.title.unicodeScalars) == ["\u{E9}"] || !(note.rank ?? 0 > 2)
                }
            ),
            (#"@.rank == 5 && @.rank == 6"#, { _ in false }),
            (#"search(@.title, "[ab]")"#, { "ab".contains($0.title) && !$0.title.isEmpty }),
        ]
        for (name, owner) in [("all", nil), ("Ada", "ada")] {
            let grant = AccessGrant(collection: "notes", matching: owner.map { #"@.owner == "\#($0)""# })
            let token = try await tokens.create(name: name, grants: [grant]).token
            for filter in filters {
                let found = notes.filter { (owner == nil || $0.owner == owner) && filter.isMet($0) }
                for order in [[], ["rank"], ["title"], ["rank", "title"], ["title", "id"]] {
                    let isDescending = Bool.random(using: &generator)
                    var query: [String: Any] = [
                        "order": order.map { ["path": $0, "descending": isDescending] as [String: Any] }
                    ]
                    query["filter"] = filter.text
                    // A stable sort, as Swift's is.
                    let sorted = found.sorted { left, right in
                        for path in order {
                            let (a, b) = (Self.value(left, path), Self.value(right, path))
                            if a != b { return isDescending ? b < a : a < b }
                        }
                        return false
                    }
                    let limit = Int.random(in: 1...50, using: &generator)
                    let result = try await all(server, query, limit: limit, token: token)
                    #expect(result == sorted, "\(filter.text ?? "") by \(order) of \(name), seed \(seed)")
                    let count = try await send(server, query.merging(["count": true]) { $1 }, token: token).count
                    #expect(count == found.count)
                }
            }
        }
    }

    /// A value in the order of numbers before texts, as arrays of scalars, after missing ones.
    private static func value(_ note: Note, _ path: String) -> [Int64] {
        switch path {
        case "rank": note.rank.map { [1, Int64($0)] } ?? [0]
        case "id": [1, Int64(note.id)]
        default: [2] + note.title.unicodeScalars.map { Int64($0.value) }
        }
    }

    @Test(
        "that are not valid, or cost too much, are refused",
        arguments: [
            #"{"filter":"@.a =="}"#, #"{"filter":1}"#, #"{"limit":0}"#, #"{"limit":1001}"#, #"{"after":"x"}"#,
            #"{"limit":1.5}"#, #"{"limit":1e30}"#, #"{"limit":-1e0}"#,
            #"{"order":[{"path":""}]}"#, #"{"order":[{"path":"a\\"}]}"#, #"{"order":[{"path":"\\\\\\"}]}"#,
            #"{"after":"e30="}"#, #"{"order":[{}]}"#, #"{"order":[{"path":"a"}],"after":"eyJrZXlzIjpbXX0="}"#, "[]",
            #"{"filter":""# + Array(repeating: "@.a", count: 2_000).joined(separator: "&&") + #""}"#,
            #"{"filter":""# + String(repeating: "(", count: 2_000) + #""}"#,
            #"{"filter":""# + String(repeating: "!", count: 4_000) + #"@.a"}"#,
            #"{"limitt":1}"#, #"{"orderBy":"a"}"#, #"{"order":[{"path":"a","direction":"descending"}]}"#,
            #"{"order":["# + Array(repeating: #"{"path":"a"}"#, count: 9).joined(separator: ",") + "]}",
        ])
    func refused(_ body: String) async throws {
        let server = try await TestServer(["notes": MemoryStorageEngine()])
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/query")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect(response.status == .badRequest)
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect(text.contains(#""code":"invalidArgument""#), "\(text.prefix(200))")
    }

    @Test("have a limit that is an integer in any form of JSON", arguments: ["2", "2.0", "0.2e1", "20E-1"])
    func limitForms(_ limit: String) async throws {
        let engine = MemoryStorageEngine()
        for id in 0..<4 { try await engine.write(Data("\(id)".utf8), key: CacheKey("\(id)")) }
        let server = try await TestServer(["notes": engine])
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/query")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: #"{"limit":\#(limit)}"#))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        // Two items and the end.
        #expect(response.status == .ok && text.split(separator: "\n").count == 3, "\(text)")
    }

    /// The keys of a page of items that are no notes.
    private func keys(_ server: TestServer, _ query: [String: Any]) async throws -> [String] {
        var request = HTTPClientRequest(url: "\(server.url)/v1/collections/notes/query")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: query)))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return try text.split(separator: "\n").compactMap { line in
            try (JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["key"] as? String
        }
    }

    @Test("without a filter have the same items with and without an index")
    func notText() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
        }
        let notes = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder))
        let items = [Data(#"{"rank":2}"#.utf8), Data(#"{"rank":1}"#.utf8), Data(#"{"rank":1,}"#.utf8), Data("x".utf8)]
        let notText = [Data(#"{"rank":"'"#.utf8) + [0xFF] + Data("\"}".utf8), Data([0xED, 0xA0, 0x80])]
        for (number, item) in (items + notText).enumerated() { try await notes.write(item, key: CacheKey("\(number)")) }
        let server = try await TestServer(["notes": notes])
        for order in [["path": "rank"], ["path": "rank", "descending": true]] as [[String: Any]] {
            try await notes.indexes?.removeIndex(StorageIndex("rank", isForText: false))
            let before = try await keys(server, ["order": [order]])
            try await notes.createIndex(StorageIndex("rank", isForText: false))
            #expect(try await keys(server, ["order": [order]]) == before)
            #expect(Set(before) == ["0", "1", "2", "3"])
        }
    }

    @Test("go on only where a page of the same query has ended")
    func otherCursors() async throws {
        let (notes, tags) = (MemoryStorageEngine(), MemoryStorageEngine())
        for engine in [notes, tags] {
            for id in 0..<4 {
                let note = Note(id: id, owner: "ada", rank: id, title: "a")
                try await engine.write(JSONEncoder().encode(note), key: CacheKey("\(id)"))
            }
        }
        let server = try await TestServer(["notes": notes, "tags": tags])
        let order = ["path": "rank", "descending": false] as [String: Any]
        let query: [String: Any] = ["filter": "@.rank < 9", "order": [order], "limit": 2]
        let next = try #require(try await send(server, query).next)
        func status(_ changes: [String: Any], collection: String = "notes") async throws -> UInt {
            let changed = query.merging(changes) { $1 }.merging(["after": next]) { $1 }
            return try await send(server, changed, collection: collection).status
        }
        #expect(try await status(["limit": 1]) == 200)
        #expect(try await status(["count": true]) == 200)
        #expect(try await status(["filter": "@.rank < 8"]) == 400)
        #expect(try await status(["order": [["path": "id"]]]) == 400)
        #expect(try await status(["order": [["path": "rank", "descending": true]]]) == 400)
        #expect(try await status([:], collection: "tags") == 400)
        #expect(try await status([:]) == 200)
    }

    @Test("that are as long as they may be are answered")
    func long() async throws {
        let engine = MemoryStorageEngine()
        try await engine.write(
            Data(#"{"id":1,"owner":"a","rank":7,"title":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}"#.utf8), key: CacheKey("a"))
        let server = try await TestServer(["notes": engine])
        for (filter, count) in [
            (Array(repeating: "@.id", count: 680).joined(separator: "&&"), 1),
            ((0..<290).map { "@.rank==\($0)" }.joined(separator: "||"), 1),
            ((0..<340).map { _ in "@.rank!=7" }.joined(separator: "&&"), 0),
            (#"match(@.title, "(a+)+b")"#, 0), (#"search(@.title, "(a|a)*(a|a)*(a|a)*b")"#, 0),
            (String(repeating: "(", count: 90) + "@.id" + String(repeating: ")", count: 90), 1),
            (#"@.title != ""# + String(repeating: "\u{1F600}", count: 4_083) + "\"", 1),
        ] {
            let page = try await send(server, ["filter": filter, "count": true])
            #expect(page.status == 200 && page.count == count, "\(filter.prefix(40)): \(page.text.prefix(200))")
        }
    }
}

/// A generator of random numbers that a seed repeats: SplitMix64.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension [Int64] {
    fileprivate static func < (left: [Int64], right: [Int64]) -> Bool { left.lexicographicallyPrecedes(right) }
}
