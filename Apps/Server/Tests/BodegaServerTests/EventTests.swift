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
        _ server: TestServer, _ token: String, since cursor: String? = nil, receiveBuffer: Int32? = nil
    ) throws -> RawConnection {
        let connection = try RawConnection(port: server.port, receiveBuffer: receiveBuffer)
        connection.send(
            "GET /v1/collections/notes/events\(cursor.map { "?since=" + $0 } ?? "") HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(token)\r\n\r\n")
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
