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

    private func open(_ server: TestServer, _ token: String, since cursor: String? = nil) async throws -> RawConnection
    {
        let connection = try RawConnection(port: server.port)
        connection.send(
            "GET /v1/collections/notes/events\(cursor.map { "?since=" + $0 } ?? "") HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(token)\r\n\r\n")
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
        let late = try await open(server, all[0], since: start)
        let events = await late.receive(to: "note-\(count - 1)-")
        #expect(events.components(separatedBy: "note-").count == count + 1)
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
