import Browsing
import Foundation
import NIOHTTP1
import Testing

/// The web server as users start it.
@Suite struct NotesServerTests {

    @Test func `Notes are written, read, liked, listed in pages and removed`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            #expect(try await server.request(.GET, "/notes") == #"200, {"notes":[]}"#)
            #expect(
                try await server.request(.PUT, "/notes/milk", #"{"text": "Buy milk"}"#)
                    == #"200, {"id":"milk","likes":0,"text":"Buy milk"}"#)
            #expect(
                try await server.request(.POST, "/notes/milk/likes")
                    == #"200, {"id":"milk","likes":1,"text":"Buy milk"}"#)
            // A new text keeps the likes.
            let note = #"200, {"id":"milk","likes":1,"text":"Buy oat milk"}"#
            #expect(try await server.request(.PUT, "/notes/milk", #"{"text": "Buy oat milk"}"#) == note)
            #expect(try await server.request(.GET, "/notes/milk") == note)
            #expect(try await server.request(.HEAD, "/notes/milk") == "200")

            let odd = #"{"id":"a/b é","likes":0,"text":"1\n2"}"#
            #expect(try await server.request(.PUT, "/notes/a%2Fb%20%C3%A9", #"{"text": "1\n2"}"#) == "200, " + odd)
            let first = try await server.request(.GET, "/notes?limit=1")
            let next = try #require(first.firstMatch(of: /"next":"([^"]+)"/)).1
            #expect(first.contains(#""notes":[{"id":"milk","#))
            #expect(try await server.request(.GET, "/notes?limit=1&after=\(next)") == "200, {\"notes\":[\(odd)]}")
            #expect(try await server.request(.GET, "/notes?contains=1%0A") == "200, {\"notes\":[\(odd)]}")

            #expect(try await server.request(.DELETE, "/notes/milk") == "204")
            #expect(try await server.request(.DELETE, "/notes/milk") == "204")
            #expect(try await server.request(.GET, "/notes") == "200, {\"notes\":[\(odd)]}")
            #expect(try await server.stop() == 0)
            #expect(try await storedNotes(in: home).keys.map(\.self) == ["a/b é"])
        }
    }

    @Test func `Requests that are not valid are refused`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            for body in ["{", "{}", #"{"text": 1}"#, ""] {
                #expect(try await server.request(.PUT, "/notes/a", body).hasPrefix("400"), "\(body)")
            }
            for query in ["limit=many", "after=nowhere", "limit=1&after="] {
                #expect(try await server.request(.GET, "/notes?" + query).hasPrefix("400"), "\(query)")
            }
            let limit = 65_536
            let longest = #"{"text": ""# + String(repeating: "x", count: limit - 12) + #""}"#
            #expect(longest.utf8.count == limit)
            #expect(try await server.request(.PUT, "/notes/long", longest).hasPrefix("200"))
            #expect(try await server.request(.PUT, "/notes/longer", longest + " ") == "413")
            let missing = #"404, {"error":{"message":"There is no such note."}}"#
            #expect(try await server.request(.GET, "/notes/longer") == missing)
            #expect(try await server.request(.POST, "/notes/longer/likes") == missing)
            #expect(try await server.request(.POST, "/notes") == "404")
            #expect(try await server.stop() == 0)
            #expect(try await storedNotes(in: home).keys.map(\.self) == ["long"])
        }
    }

    @Test func `Two servers on one file lose no like`() async throws {
        try await Example.withHome { home in
            let servers = [try await RunningServer(in: home), try await RunningServer(in: home)]
            try await servers[0].request(.PUT, "/notes/milk", #"{"text": "Buy milk"}"#)
            try await withThrowingTaskGroup { group in
                for index in 0..<200 {
                    group.addTask {
                        let answer = try await servers[index % 2].request(.POST, "/notes/milk/likes")
                        #expect(answer.hasPrefix("200"))
                    }
                }
                try await group.waitForAll()
            }
            for server in servers {
                #expect(try await server.request(.GET, "/notes/milk").contains(#""likes":200"#))
                #expect(try await server.stop() == 0)
            }
            #expect(try await storedNotes(in: home)["milk"]?["likes"] as? Int == 200)
        }
    }

    @Test func `Events have the changes of all servers, and continue after the last one`() async throws {
        try await Example.withHome { home in
            let (one, other) = (try await RunningServer(in: home), try await RunningServer(in: home))
            var events = try await one.events()
            try await other.request(.PUT, "/notes/milk", #"{"text": "1\n2"}"#)
            try await events.wait(for: #""text":"1\n2""#)
            events.forget()
            try await one.request(.DELETE, "/notes/milk")
            try await events.wait(for: "data: {\"id\":\"milk\"}\n\nid: ")
            try await events.wait(for: "\n\n")
            let last = try #require(events.received.matches(of: /id: (.+)\n/).last).1

            #expect(try await one.stop() == 0)
            try await other.request(.PUT, "/notes/tea", #"{"text": "Buy tea"}"#)
            let again = try await RunningServer(in: home)
            var continued = try await again.events(after: String(last))
            try await continued.wait(for: "Buy tea")
            #expect(!continued.received.contains("milk"))
            var unknown = try await again.events(after: "unknown")
            try await unknown.wait(for: "event: reset\n")
            try await unknown.wait(for: "data: {}\n\n")
            #expect(try await again.stop() == 0)
            #expect(try await other.stop() == 0)
        }
    }

    @Test func `A full volume is status 507, and changes nothing`() async throws {
        try await Example.withHome { home in
            // Files of at most 256 KiB.
            let server = try await RunningServer(in: home, after: "trap '' XFSZ; ulimit -f 256")
            let body = "{\"text\": \"\(String(repeating: "x", count: 20_000))\"}"
            var stored: Set<String> = []
            while stored.count < 30 {
                let answer = try await server.request(.PUT, "/notes/\(stored.count)", body)
                if !answer.hasPrefix("200") {
                    #expect(answer == #"507, {"error":{"message":"storageFull"}}"#)
                    break
                }
                stored.insert("\(stored.count)")
            }
            #expect(stored.count < 30)
            #expect(try await server.request(.GET, "/notes/0").hasPrefix("200"))
            #expect(try await server.stop() == 0)
            #expect(try await Set(storedNotes(in: home).keys) == stored)
        }
    }

    @Test func `A server that can't start says why`() async throws {
        try await Example.withHome { home in
            let server = try await RunningServer(in: home)
            let taken = try await Example.run("NotesServer", home.path, "--port", "\(server.port)", in: home)
            #expect(taken.status == 1)
            #expect(
                taken.lines.last
                    == "Error: Port \(try server.port) is taken. Choose another one with --port; 0 is any free one.")
            #expect(try await server.stop() == 0)

            let file = home.appendingPathComponent("file")
            try Data().write(to: file)
            let folder = try await Example.run("NotesServer", file.path, "--port", "0", in: home)
            #expect(folder.status == 1)
            #expect(folder.lines.last?.hasPrefix("Error: cannotOpen: ") == true)
            #expect(folder.lines.last?.contains(file.path) == true)
            for (arguments, status, text) in [
                (["--help"], 0, "the notes; created if it is missing"), ([], 64, "<folder>"),
                ([""], 64, "must have a name"),
                (["data", "--port", "65536"], 64, "from 0 to 65535"),
            ] as [([String], Int32, String)] {
                let (process, output) = try Example.process("NotesServer", arguments, in: home)
                let answer = try await Example.run(process, output)
                #expect(answer.status == status && answer.lines.joined().contains(text), "\(arguments)")
            }
        }
    }
}
