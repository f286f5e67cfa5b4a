#if CommandLineTool
import Bodega
@testable import BodegaCommands
import BodegaSync
import Foundation
import TestSupport
import Testing

@Suite("bodega sync")
struct SyncCommandTests {

    @Test("gives two replicas and their remote file the same items, the first time and after changes of both")
    func replicas() async throws {
        let files = try Replicas()
        await files.put(#"{"id":"1","title":"milk"}"#, "1", in: "a.db")
        await files.put(#"{"id":"2","title":"bread"}"#, "2", in: "a.db")
        await files.put(#"{"id":"3","title":"salt"}"#, "3", in: "b.db")
        #expect(await files.sync("a.db", "remote.db") == "sent 2, received 0\n")
        #expect(await files.sync("b.db", "remote.db") == "sent 1, received 2\n")
        #expect(await files.sync("a.db", "remote.db") == "sent 0, received 1\n")
        let first = [
            row("1", #"{"id":"1","title":"milk"}"#), row("2", #"{"id":"2","title":"bread"}"#),
            row("3", #"{"id":"3","title":"salt"}"#),
        ]
        for file in ["a.db", "b.db", "remote.db"] { #expect(try await files.items(file) == first, "\(file)") }

        // Different properties of one item, a removal, and a new item, written by the tool's own commands.
        await files.put(#"{"id":"1","title":"oat milk"}"#, "1", in: "a.db")
        await files.put(#"{"id":"1","title":"milk","done":true}"#, "1", in: "b.db")
        #expect(await bodega("rm", files.path("a.db") + "#notes", "2").status == 0)
        await files.put("4", "4", in: "b.db")
        #expect(await files.sync("a.db", "remote.db") == "sent 2, received 0\n")
        #expect(await files.sync("b.db", "remote.db") == "sent 2, received 2, merged 1\n")
        #expect(await files.sync("a.db", "remote.db") == "sent 0, received 2\n")
        let second = [
            row("1", #"{"id":"1","title":"oat milk","done":true}"#), row("3", #"{"id":"3","title":"salt"}"#),
            row("4", "4"),
        ]
        for file in ["a.db", "b.db", "remote.db"] { #expect(try await files.items(file) == second, "\(file)") }
        // Different properties were changed, so nothing was lost.
        #expect(await bodega("outbox", "conflicts", files.path("b.db")).text.isEmpty)
        #expect(await files.sync("b.db", "remote.db", "--quiet") == "")
    }

    /// Two collections whose names Swift's strings take for equal once ended the synchronization of all.
    @Test("leaves out a collection whose name is another spelling of another one's, and says so")
    func spellings() async throws {
        let files = try Replicas()
        let names = ["\u{E9}", "e\u{301}", "notes"]
        let local = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: files.path("a.db")))
        for name in names { try await local.collection(named: name).write(Data("1".utf8), key: CacheKey(name)) }
        let result = await bodega("sync", files.path("a.db"), files.path("remote.db"))
        #expect(result.status == 0 && result.text == "sent 2, received 0\n", "\(result)")
        #expect(result.errors.contains("is not synchronized: the name is another spelling"), "\(result)")
        let remote = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: files.path("remote.db")))
        let sent = try await remote.collectionNames().map { Array($0.utf8) }
        #expect(Set(sent).subtracting(names.map { Array($0.utf8) }).isEmpty && sent.count == 2)
        let both = names[..<2].flatMap { ["--collection", $0] }
        #expect(await bodega(arguments: ["sync", files.path("a.db"), files.path("remote.db")] + both).status == 64)
    }

    @Test("merges items that both have the first time, and removes none", arguments: [false, true])
    func firstTime(earlierWins: Bool) async throws {
        let files = try Replicas()
        for (file, title) in [("a.db", "local"), ("remote.db", "remote")] {
            await files.put(#"{"id":"1","title":"\#(title)","\#(title)":1}"#, "1", in: file)
            await files.put(title, title, in: file)
        }
        let remote = files.path("remote.db")
        let arguments = ["sync", files.path("a.db"), remote, "--json"] + (earlierWins ? ["--earlier-wins"] : [])
        let result = await bodega(arguments: arguments)
        #expect(result.text == #"{"sent":2,"received":2,"merged":1,"refused":[]}"# + "\n")
        let items = try #require(try await files.items("a.db"))
        #expect(try await files.items("remote.db") == items)
        #expect(items.count == 3 && items[1] == row("local", "local") && items[2] == row("remote", "remote"))
        let merged = await bodega("get", files.path("a.db") + "#notes", "1")
        let object = try JSONDecoder().decode(Merged.self, from: Data(merged.output))
        #expect(object == Merged(title: earlierWins ? "remote" : "local", local: 1, remote: 1))
        let lost = await bodega("outbox", "conflicts", files.path("a.db"), "--json").output
        #expect(
            try await Replicas.output(
                ["jq", "-r", ".losses[] | .path, .side, .lost.json"], input: Data(lost))
                == ["$['title']"] + (earlierWins ? ["local", "local"] : ["remote", "remote"]))
    }

    private struct Merged: Decodable, Equatable { var title: String, local: Int, remote: Int }

    @Test("synchronizes the collections that are named, or all, without those of servers and synchronization")
    func collections() async throws {
        let files = try Replicas()
        for name in ["notes", "tags", "emporium-receipts"] { await files.put("1", "k", in: "a.db", name) }
        await files.sync("a.db#tags", "one.db")
        let synchronization = ["emporium-conflicts", "emporium-outbox", "emporium-sync"]
        #expect(try await files.collections("one.db") == ["tags"])
        await files.sync("a.db", "one.db", "--collection", "notes", "--collection", "tags")
        #expect(try await files.items("one.db") == [row("k", "1")])
        await files.sync("b.db", "one.db", "--collection", "tags")
        #expect(try await files.collections("b.db") == synchronization + ["tags"])
        #expect(try await files.items("b.db", "tags") == [row("k", "1")])

        for name in ["notes", "tags", "emporium-receipts"] { await files.put("1", "k", in: "c.db", name) }
        await files.sync("c.db", "all.db")
        #expect(try await files.collections("all.db") == ["notes", "tags"])
        // Items without a named collection stay, and are mentioned.
        #expect(await bodega("put", files.path("c.db"), "unnamed", input: [1]).status == 0)
        let noted = await bodega("sync", files.path("c.db"), files.path("all.db"))
        #expect(
            noted.errors == "bodega: note: the items without a named collection are not synchronized.\n"
                && noted.status == 0)
        // Other commands show only the collections of the user.
        let statistics = Data(await bodega("stat", files.path("c.db"), "--json").output)
        #expect(
            try await Replicas.output(["jq", "-c", ".collections"], input: statistics) == [#"["notes","tags"]"#])
        #expect(await bodega("verify", files.path("c.db")).text == "no problem found, 3 items read\n")
        #expect(
            await bodega("count", files.path("c.db")).errors
                == "bodega: note: the file also has the collections \"notes\", \"tags\", which are not counted.\n")
    }

    @Test("parks a removal that the remote file refuses, with the reason, and sends the rest")
    func parked() async throws {
        let files = try Replicas()
        try await files.refuseRemovals()
        let result = await bodega("sync", files.path("a.db"), files.path("remote.db"))
        #expect(result.status == 1 && result.text == "sent 1, received 0, refused 1\n", "\(result)")
        #expect(
            result.errors.hasPrefix(
                "bodega: A change is refused, and stays in the outbox, see bodega help outbox:\n  notes  \"1\"  referenced: "
            ),
            "\(result)")
        let notes = try await files.items("remote.db")
        #expect(notes == [row("1", #"{"id":"1"}"#), row("2", "2")])
        let json = await bodega("sync", files.path("a.db"), files.path("remote.db"), "--json")
        #expect(json.status == 1)
        #expect(
            try await Replicas.output(
                ["jq", "-c", "[.sent, (.refused[] | .collection, .key, .change, .state, .code)]"],
                input: Data(json.output)) == [#"[0,"notes","1","removed","parked","referenced"]"#])
    }

    @Test("ends with an error if the remote database is not reached, and keeps the changes")
    func offline() async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        // No program listens there: the port is the discard service's, and reserved.
        let result = await bodega("sync", files.path("a.db"), "http://127.0.0.1:9", "--timeout", "2")
        #expect(result.status == 1 && result.text.isEmpty)
        #expect(
            result.errors.hasPrefix(
                "bodega: http://127.0.0.1:9 was not reached within 2 s: The server can't be reached")
                && result.errors.hasSuffix(
                    " 1 change stays in the outbox. Run the same command again to continue.\n"),
            "\(result.errors)")
        let json = await bodega("sync", files.path("a.db"), "http://127.0.0.1:9", "--timeout", "1", "--json")
        #expect(json.status == 1 && json.text == #"{"sent":0,"received":0,"merged":0,"refused":[]}"# + "\n")
        let listed = await bodega("outbox", files.path("a.db")).text
        #expect(["sent", "waiting"].contains { listed == "notes\twritten\t\($0)\tk\t\n" }, "\(listed)")
        // It was never reached, so that another one can be named.
        #expect(await files.sync("a.db", "remote.db") == "sent 1, received 0\n")
        #expect(await bodega("outbox", files.path("a.db")).text.isEmpty)
    }

    @Test("refuses another remote database, or none at the place of the first one")
    func anotherRemote() async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        await files.sync("a.db", "remote.db")
        let other = await bodega("sync", files.path("a.db"), files.path("other.db"))
        #expect(other.status == 64 && other.errors.contains("is synchronized with sqlite:"), "\(other)")
        #expect(!FileManager.default.fileExists(atPath: files.path("other.db")))
        try FileManager.default.moveItem(atPath: files.path("remote.db"), toPath: files.path("moved.db"))
        for suffix in ["-wal", "-shm"]
        where FileManager.default.fileExists(atPath: files.path("remote.db" + suffix)) {
            try FileManager.default.moveItem(
                atPath: files.path("remote.db" + suffix), toPath: files.path("moved.db" + suffix))
        }
        let missing = await bodega("sync", files.path("a.db"), files.path("remote.db"), "--timeout", "5")
        #expect(missing.status == 1 && missing.errors.contains("no store"), "\(missing)")
        let unnamed = await bodega("sync", files.path("new.db"), files.path("moved.db"))
        #expect(unnamed.status == 64 && unnamed.errors.contains("name a collection: --collection NAME"), "\(unnamed)")
        #expect(try await files.items("a.db") == [row("k", "1")])
        await files.put("2", "l", in: "a.db")
        #expect(await files.sync("a.db", "moved.db", "--moved") == "sent 1, received 0\n")
        #expect(await files.sync("a.db", "moved.db") == "sent 0, received 0\n")
        #expect(try await files.items("moved.db") == [row("k", "1"), row("l", "2")])
        // A replica is not the remote database of another one: it would not pass on what it receives.
        await files.put("3", "m", in: "b.db")
        let chain = await bodega("sync", files.path("b.db"), files.path("a.db"))
        #expect(chain.status == 64 && chain.errors.contains("is synchronized with another database itself"))
        #expect(try await files.items("a.db")?.count == 2)
    }

    @Test("refuses another name of the same file, such as a hard link")
    func hardLink() async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        try FileManager.default.linkItem(atPath: files.path("a.db"), toPath: files.path("b.db"))
        let result = await bodega("sync", files.path("a.db"), files.path("b.db"))
        #expect(result.status == 64 && result.errors.contains("same file"), "\(result)")
        #expect(try await files.collections("a.db") == ["notes"])
    }

    @Test(
        "says what is wrong with its arguments",
        arguments: [
            (["disk:FOLDER/x", "FOLDER/r.db"], "is no SQLite file"), (["FOLDER/a.db", "disk:FOLDER/x"], "is a folder"),
            (["FOLDER/a.db", "FOLDER/a.db"], "same file"), (["FOLDER/a.db", "FOLDER/a.db#notes"], "same file"),
            (["FOLDER/a.db#notes", "FOLDER/r.db#tags"], "names the collection \"tags\""),
            (["FOLDER/a.db#notes", "FOLDER/r.db", "--collection", "tags"], "and --collection others"),
            (["FOLDER/a.db#emporium-x", "FOLDER/r.db"], "can't be synchronized"),
            (["FOLDER/a.db", "FOLDER/r.db", "--collection", "emporium-x"], "can't be synchronized"),
            (["FOLDER/a.db", "FOLDER/r.db"], "has no named collection"),
            (["FOLDER/a.db", "FOLDER/r.db", "--timeout", "0"], "--timeout must be"),
            (["FOLDER/a.db", "FOLDER/r.db", "--token-file", "x"], "--token-file is for servers"),
            (["FOLDER/a.db#notes", "http://example.com"], "https"),
        ])
    func arguments(arguments: [String], message: String) async throws {
        let files = try Replicas()
        #expect(await bodega("put", files.path("a.db"), "k", input: [1]).status == 0)
        let result = await bodega(
            arguments: ["sync"] + arguments.map { $0.replacingOccurrences(of: "FOLDER", with: files.folder.path) })
        #expect(result.status == 64 && result.errors.contains(message), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: files.path("r.db")))
    }

    // MARK: --follow

    @Test("prints with --follow what becomes of the changes of other programs, until it is interrupted")
    func follow() async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        let run = await WatchRun(running: ["sync", files.path("a.db"), files.path("remote.db"), "--follow"])
        #expect(await run.next() == "accepted   notes  k")
        // The log of the file signals the change of another engine, and of another program.
        await files.put("2", "l", in: "a.db")
        #expect(await run.next() == "accepted   notes  l")
        await files.put("3", "m", in: "remote.db")
        try await waitUntil("the item was received") {
            try await files.items("a.db") == [row("k", "1"), row("l", "2"), row("m", "3")]
        }
        #expect(await run.end() == 0)
        #expect(run.errors.text.isEmpty)
        #expect(try await files.items("remote.db")?.count == 3)
    }

    @Test("prints with --follow --json why a change is refused")
    func followRefused() async throws {
        let files = try Replicas()
        try await files.refuseRemovals()
        let run = await WatchRun(
            running: ["sync", files.path("a.db"), files.path("remote.db"), "--follow", "--json"])
        var outcomes: [String] = []
        for _ in 0..<2 {
            let line = try #require(await run.nextRaw())
            outcomes += try await Replicas.output(
                ["jq", "-c", "[.outcome, .collection, .key, .kind, .code]"], input: Data(line.utf8))
        }
        #expect(
            outcomes.sorted() == [
                #"["accepted","notes","2","hashed",null]"#, #"["refused","notes","1","hashed","referenced"]"#,
            ])
        #expect(await run.end() == 0)
    }

    @Test("ends with --follow on signals, and without it when it is interrupted", arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        let following = try ToolProcess(
            ["sync", files.path("a.db"), files.path("remote.db"), "--follow"], in: files.folder)
        try await waitUntil("the change was sent") { try following.outputText.contains("accepted") }
        following.send(signal)
        #expect(try await following.end() == 0)
        #expect(try following.errorText.isEmpty)

        await files.put("2", "l", in: "b.db")
        let waiting = try ToolProcess(["sync", files.path("b.db"), "http://127.0.0.1:9"], in: files.folder)
        try await waitUntil("the items were noted") {
            await !bodega("outbox", files.path("b.db")).text.isEmpty
        }
        waiting.send(signal)
        #expect(try await waiting.end() == 128 + signal)
        let listed = await bodega("outbox", files.path("b.db")).text
        #expect(["sent", "waiting"].contains { listed == "notes\twritten\t\($0)\tl\t\n" }, "\(listed)")
    }
}

extension Replicas {
    /// Makes a replica with a removal that its remote file refuses, because another item refers to the removed one, and
    /// with another change.
    func refuseRemovals() async throws {
        let remote = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path("remote.db")))
        let tags = try remote.collection(named: "tags")
        try await tags.declareReferences([StorageReference("note", to: "notes", onRemoval: .refuse)])
        try await remote.close()
        await put(#"{"id":"1"}"#, "1", in: "remote.db")
        await put(#"{"note":"1"}"#, "t", in: "remote.db", "tags")
        await sync("a.db", "remote.db", "--collection", "notes")
        #expect(await bodega("rm", path("a.db") + "#notes", "1").status == 0)
        await put("2", "2", in: "a.db")
    }
}
#endif
