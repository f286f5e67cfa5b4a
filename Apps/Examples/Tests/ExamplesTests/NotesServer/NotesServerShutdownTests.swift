import Browsing
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// How the web server ends.
@Suite struct NotesServerShutdownTests {

    // Signal 0 is none.
    @Test(arguments: [(SIGTERM, 0), (SIGINT, 0), (SIGTERM, SIGTERM), (SIGTERM, SIGINT)] as [(Int32, Int32)])
    func `A signal ends event streams, and running requests are answered`(
        _ signal: Int32, _ second: Int32
    ) async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            try await server.request(.PUT, "/notes/first", #"{"text": "1"}"#)
            var events = try await server.events()
            let connection = try await server.connect()
            try await connection.executeThenClose { inbound, outbound in
                var answers = ReceivedText(inbound)
                // They arrive together, so when the first one is answered, the server has begun with the second one.
                try await outbound.write(
                    ByteBuffer(
                        string: """
                            GET /notes/first HTTP/1.1\r\nHost: x\r\n\r\n\
                            PUT /notes/second HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{"text":
                            """))
                try await answers.wait(for: #""text":"1""#)

                server.send(signal)
                try await events.waitForEnd()
                async let status = server.stop(second)
                try await outbound.write(ByteBuffer(string: #" "2"}"#))
                try await answers.wait(for: #""text":"2""#)
                try await answers.waitForEnd()
                #expect(try await status == 0)
            }
            // The engine was closed.
            #expect(!FileManager.default.fileExists(atPath: RunningServer.data(in: home).path + "/data.sqlite3-wal"))
            #expect(try await Set(storedNotes(in: home).keys) == ["first", "second"])
        }
    }

    @Test func `A client that does not read its events is disconnected, and costs no memory until then`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            let connection = try await server.connect()
            // Text that is not asked for is not read.
            try await connection.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"))
                var received = ReceivedText(inbound)
                try await received.wait(for: "id: ")
                let body = "{\"text\": \"\(String(repeating: "x", count: 60_000))\"}"
                // The first ones also fill caches.
                for number in 0..<100 { try await server.request(.PUT, "/notes/\(number % 50)", body) }
                #if os(Linux)
                let before = try server.memory
                #endif
                for number in 0..<600 { try await server.request(.PUT, "/notes/\(number % 50)", body) }
                #if os(Linux)
                let after = try server.memory
                #expect(after < before + 20_000_000)
                #endif
                #expect(try await server.stop() == 0)
            }
            #expect(try await storedNotes(in: home).count == 50)
        }
    }

    @Test func `Many event streams get each change and end at the shutdown`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            let count = 200
            let (beginnings, begins) = AsyncStream<Void>.makeStream()
            let (changes, hasChange) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup { group in
                for _ in 0..<count {
                    group.addTask {
                        try await server.connect().executeThenClose { inbound, outbound in
                            try await outbound.write(ByteBuffer(string: "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"))
                            var received = ReceivedText(inbound)
                            try await received.wait(for: "id: ")
                            begins.yield()
                            try await received.wait(for: "Buy milk")
                            hasChange.yield()
                            try await received.waitForEnd()
                            // The body is complete.
                            #expect(received.text.hasSuffix("\r\n0\r\n\r\n"))
                        }
                    }
                }
                for await _ in beginnings.prefix(count) {}
                try await server.request(.PUT, "/notes/milk", #"{"text": "Buy milk"}"#)
                for await _ in changes.prefix(count) {}
                #expect(try await server.stop() == 0)
                try await group.waitForAll()
            }
        }
    }

    #if os(Linux)
    @Test func `A client that disconnects leaves nothing behind`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            let sockets = try server.openFiles("socket:")
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await server.connect().executeThenClose { inbound, outbound in
                            try await outbound.write(ByteBuffer(string: "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"))
                            var received = ReceivedText(inbound)
                            try await received.wait(for: "id: ")
                            #expect(try server.openFiles("anon_inode:inotify") == 1)
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Without streams, nothing watches the file. The second heartbeat after 30 seconds would end them, too.
            let deadline = ContinuousClock.now + .seconds(25)
            while try server.openFiles("anon_inode:inotify") > 0 || server.openFiles("socket:") > sockets {
                try #require(ContinuousClock.now < deadline)
                await Task.yield()
            }
            #expect(try await server.stop() == 0)
        }
    }
    #endif

    @Test func `A killed server has stored all that it has acknowledged`() async throws {
        try await Example.withHome { home in
            for round in 0..<4 {
                let server = try await RunningServer(in: home)
                let (acknowledgements, acknowledged) = AsyncStream<String>.makeStream()
                let all = Task { await acknowledgements.reduce(into: Set()) { $0.insert($1) } }
                let (enough, isEnough) = AsyncStream<Void>.makeStream()
                await withTaskGroup { group in
                    for writer in 0..<8 {
                        group.addTask {
                            for number in 0... {
                                let id = "\(round)-\(writer)-\(number)"
                                do {
                                    let answer = try await server.request(.PUT, "/notes/\(id)", #"{"text": ""}"#)
                                    #expect(answer.hasPrefix("200"))
                                } catch {
                                    break  // the connection is closed
                                }
                                acknowledged.yield(id)
                                if number == round * 5 { isEnough.yield() }
                            }
                        }
                    }
                    group.addTask {
                        var iterator = enough.makeAsyncIterator()
                        await iterator.next()
                        do { _ = try await server.stop(SIGKILL) } catch { Issue.record(error) }
                    }
                }
                acknowledged.finish()
                let ids = await all.value
                #expect(ids.count > round * 5)
                #expect(try await ids.isSubset(of: storedNotes(in: home).keys))
            }
        }
    }
}
