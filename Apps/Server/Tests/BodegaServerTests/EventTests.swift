import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Foundation
import Testing

@Suite("Streams of events")
struct EventTests {

    private let tokens = AccessTokens(storage: MemoryStorageEngine())
    private let database = RecordingStorageEngine(MemoryStorageEngine())

    /// Opens a stream, whose first event follows at any time.
    private func ask(
        _ server: TestServer, _ token: String, since cursor: String? = nil, last: String? = nil,
        receiveBuffer: Int32? = nil
    ) throws -> RawConnection {
        let connection = try RawConnection(port: server.port, receiveBuffer: receiveBuffer)
        connection.send(
            "GET /v1/collections/notes/events\(cursor.map { "?since=" + $0 } ?? "") HTTP/1.1\r\nHost: localhost\r\n"
                + (last.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "Authorization: Bearer \(token)\r\n\r\n")
        return connection
    }

    /// Opens a stream from now on, and receives its first event. With earlier changes, others could come with it.
    private func open(_ server: TestServer, _ token: String) async throws -> RawConnection {
        let connection = try ask(server, token)
        #expect(await connection.receive(to: "event: begin\ndata: {}\n\n").hasPrefix("HTTP/1.1 200"))
        return connection
    }

    private var reads: Int { database.calls.count { $0.operation == .fetchChanges } }

    @Test("of a log share their reads, also those of several clients, and each gets each change once")
    func sharedReads() async throws {
        let server = try await TestServer(access: tokens, ["notes": database])
        let start = try #require(try await database.log?.fetchCursor()).rawValue
        let all = try await [1, 2].asyncMap { try await token("all \($0)", matching: nil) }
        let owners = ["ada", "bob"]
        let some = try await owners.asyncMap { try await token($0, matching: "@.owner == \"\($0)\"") }
        var streams: [(owner: String?, connection: RawConnection)] = []
        for number in 0..<40 { streams.append((nil, try await open(server, all[number % 2]))) }
        for number in 0..<20 { streams.append((owners[number % 2], try await open(server, some[number % 2]))) }

        let count = 30
        let before = reads
        for number in 0..<count {
            let owner = owners[number / 3 % 2]
            try await database.write(Data("{\"owner\": \"\(owner)\"}".utf8), key: CacheKey("note-\(number)-"))
            // All of them arrive before the next change.
            for stream in streams where stream.owner == nil || stream.owner == owner {
                let event = await nextChanges(of: stream.connection)
                #expect(event.components(separatedBy: "note-").count == 2)
                #expect(event.contains("note-\(number)-"))
            }
        }
        // For each change one read for those without a filter and one for those with one, and one after a signal that
        // came when its change was read already. Each stream by itself would make 1,200.
        #expect(reads - before <= count * 4)

        // One that begins earlier gets what the others had.
        let late = try ask(server, all[0], since: start)
        let events = await late.receive(to: "note-\(count - 1)-")
        #expect(events.components(separatedBy: "note-").count == count + 1)
    }

    /// The identifier of the last event of a text.
    private func identifier(in text: String) throws -> String {
        let parts = text.components(separatedBy: "id: ")
        try #require(parts.count > 1)
        return try String(decoding: #require(parts.last).utf8.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The keys of the changes in events.
    private func keys(in text: String) -> [String] {
        text.components(separatedBy: "\"note-").dropFirst().map { $0.components(separatedBy: "\"")[0] }
    }

    @Test("go on after the last event that a client has seen", arguments: [nil, #"@.o == "a""#])
    func resumption(filter: String?) async throws {
        let server = try await TestServer(access: tokens, ["notes": database])
        let token = try await token("reader", matching: filter)
        var connection: RawConnection? = try await open(server, token)
        var last = ""
        for number in 0..<3 {
            try await database.write(Data(#"{"o":"a"}"#.utf8), key: CacheKey(verbatim: "note-\(number)"))
            let event = await nextChanges(of: try #require(connection))
            #expect(keys(in: event) == ["\(number)"])
            last = try identifier(in: event)
        }
        connection = nil
        try await database.write(Data(#"{"o":"b"}"#.utf8), key: CacheKey(verbatim: "note-other"))
        for number in 3..<6 {
            try await database.write(Data(#"{"o":"a"}"#.utf8), key: CacheKey(verbatim: "note-\(number)"))
        }
        // The header of a browser counts, and not the address that its page has opened.
        let again = try ask(server, token, since: "none", last: last)
        let missed = await again.receive(to: #""note-5""#)
        #expect(keys(in: missed) == (filter == nil ? ["other"] : []) + ["3", "4", "5"])
        #expect(!missed.contains("event: gap"))
    }

    @Test(
        "say that there is a gap if their log does not reach back, and go on from there",
        arguments: [nil, #"@.o == "a""#])
    func gap(filter: String?) async throws {
        let server = try await TestServer(access: tokens, ["notes": database])
        let token = try await token("reader", matching: filter)
        let old = try identifier(in: await ask(server, token).receive(to: "event: begin\ndata: {}\n\n"))
        for _ in 0..<6 {
            try await database.write(
                (0..<20_000).map { (CacheKey(verbatim: "filler \($0)"), Data(#"{"o":"a"}"#.utf8)) })
        }
        for cursor in [old, "100000/1", "of-another-server"] {
            let connection = try ask(server, token, last: cursor)
            let text = await connection.receive(to: "event: gap\ndata: {}\n\n")
            #expect(text.contains("event: gap") && !text.contains("event: changes"), "\(cursor)")
            try await database.write(Data(#"{"o":"a"}"#.utf8), key: CacheKey(verbatim: "note-\(cursor.count)"))
            #expect(keys(in: await nextChanges(of: connection)) == ["\(cursor.count)"], "\(cursor)")
        }
    }

    /// Changes between a snapshot and the stream must neither be lost nor be there twice (electric 4773).
    @Test("join a snapshot at its cursor, while others write", arguments: [nil, #"@.o == "a""#])
    func seam(filter: String?) async throws {
        let server = try await TestServer(access: tokens, ["notes": database])
        let token = try await token("reader", matching: filter)
        let engine = try await server.engine(token: token)
        let writing = Task { [database] in
            var number = 0
            while !Task.isCancelled, number < 4_000 {
                let data = Data(#"{"o":"\#(number % 3 == 0 ? "b" : "a")","n":\#(number)}"#.utf8)
                let key = CacheKey(verbatim: "note-\(number % 50)")
                if number % 7 == 0 {
                    try await database.remove(key: key)
                } else {
                    try await database.write(data, key: key)
                }
                number += 1
            }
        }
        var replicas: [(items: [CacheKey: Data], cursor: StorageCursor)] = []
        func catchUp(_ replica: inout (items: [CacheKey: Data], cursor: StorageCursor)) async throws {
            let delta = try #require(try await engine.fetchChangedItems(since: replica.cursor, excluding: nil))
            for change in delta.changes { replica.items[change.key] = nil }
            for item in delta.items { replica.items[item.key] = item.data }
            replica.cursor = delta.cursor
        }
        for _ in 0..<8 {
            let snapshot = try await engine.fetchSnapshot()
            replicas.append(
                (Dictionary(uniqueKeysWithValues: snapshot.items.map { ($0.key, $0.data) }), snapshot.cursor))
            for number in replicas.indices { try await catchUp(&replicas[number]) }
        }
        try await writing.value
        let stored = try await database.fetchAll().filter { filter == nil || $0.data.starts(with: #"{"o":"a""#.utf8) }
        let expected = Dictionary(uniqueKeysWithValues: stored.map { ($0.key, $0.data) })
        for number in replicas.indices {
            try await catchUp(&replicas[number])
            #expect(replicas[number].items == expected)
        }
    }

    @Test("of a token end when its time is over")
    func expiry() async throws {
        let server = try await TestServer(access: tokens, ["notes": database])
        let (token, _) = try await tokens.create(
            name: "short", grants: [AccessGrant(collection: "notes", matching: nil)],
            expiresAt: Date().addingTimeInterval(2))
        let stream = try await open(server, token)
        // The end of the stream is that of its answer.
        #expect(await stream.receive(to: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
        #expect(try await tokens.client(bearing: token) == nil)
    }

    @Test("of a revoked token end, also those whose reader is slow and far behind")
    func revokedSlowReader() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try SQLiteStorageEngine(
            openingFile: folder.appendingPathComponent("notes.db"), durability: .relaxed)
        let start = try #require(try await database.log?.fetchCursor()).rawValue
        // An event has up to 10,000 changes. One is more than the system keeps for a connection.
        let padding = String(repeating: "-", count: 700)
        for part in 0..<2 {
            try await database.write(
                (0..<10_000).map { (key: CacheKey("part \(part) \($0)\(padding)"), data: Data("1".utf8)) })
        }
        let server = try await TestServer(access: tokens, ["notes": database])
        let (token, stored) = try await tokens.create(
            name: "slow", grants: [AccessGrant(collection: "notes", matching: nil)])
        let stream = try ask(server, token, since: start, receiveBuffer: 65_536)
        #expect(await stream.receive(to: "event: changes").contains("event: changes"))
        try await tokens.revoke(id: stored.id)
        let rest = await stream.receive()
        #expect(rest.contains("part 0 9999-"))
        #expect(!rest.contains("part 1 "))
    }

    /// Receives the next event, which a heartbeat can precede.
    private func nextChanges(of connection: RawConnection) async -> String {
        while true {
            let event = await connection.receive(to: "\n\n")
            if event.isEmpty || event.contains("event: ") { return event }
        }
    }

    private func token(_ name: String, matching filter: String?) async throws -> String {
        try await tokens.create(name: name, grants: [AccessGrant(collection: "notes", matching: filter)]).token
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
