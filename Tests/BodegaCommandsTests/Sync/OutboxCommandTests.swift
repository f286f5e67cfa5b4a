#if CommandLineTool
import Bodega
@testable import BodegaCommands
import BodegaSync
import Foundation
import TestSupport
import Testing

@Suite("bodega outbox")
struct OutboxCommandTests {

    @Test("lists changes that wait, as a table and as JSON, and creates nothing in a file without an outbox")
    func list() async throws {
        let files = try Replicas()
        await files.put("1", "k", in: "a.db")
        let path = files.path("a.db")
        for command in [["outbox"], ["outbox", "list"], ["outbox", "conflicts"]] {
            for arguments in [[path], [path, "--json"], [path + "#notes"], [path, "--collection", "other"]] {
                let result = await bodega(arguments: command + arguments)
                #expect(result.status == 0 && result.output.isEmpty)
                #expect(result.errors.hasSuffix("has no outbox: it was never synchronized.\n"), "\(result)")
            }
        }
        #expect(try await files.collections("a.db") == ["notes"])
        #expect(await bodega("outbox", "retry", path, "--all").status == 1)
        #expect(await bodega("outbox", "discard", path, "--all", "--yes").status == 1)
        #expect(try await files.collections("a.db") == ["notes"])
        #expect(await bodega("outbox", files.path("none.db")).status == 1)
        #expect(await bodega("outbox", "disk:" + files.folder.path).status == 64)

        await files.sync("a.db", "remote.db")
        await files.put("2", "l", in: "a.db")
        #expect(await bodega("put", path + "#notes", "f", "--verbatim", input: [2]).status == 0)
        #expect(await bodega("rm", path + "#notes", "k").status == 0)
        #expect(
            await bodega("outbox", path).text == """
                notes\twritten\twaiting\tl\t
                notes\twritten\twaiting\tf\t
                notes\tremoved\twaiting\tk\t

                """)
        #expect(await bodega("outbox", path, "--collection", "other").text.isEmpty)
        let json = await bodega("outbox", path, "--json").output
        #expect(
            try await Replicas.output(["jq", "-c", "[.collection,.key,.kind,.change,.state]"], input: Data(json))
                == [
                    #"["notes","l","hashed","written","waiting"]"#,
                    #"["notes","f","verbatim","written","waiting"]"#,
                    #"["notes","k","hashed","removed","waiting"]"#,
                ])
    }

    /// The remote database does not know that notes name folders, and another item refuses the folder's removal.
    @Test("gives up what a removal has taken along in another collection together with the removal")
    func cascade() async throws {
        let files = try Replicas()
        await files.put(#"{"id":"f"}"#, "f", in: "a.db", "folders")
        await files.put(#"{"folder":"f"}"#, "n", in: "a.db", "notes")
        await files.sync("a.db", "remote.db")
        let remote = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: files.path("remote.db")))
        let pins = try remote.collection(named: "pins")
        try await pins.declareReferences([StorageReference("folder", to: "folders", onRemoval: .refuse)])
        try await pins.write(Data(#"{"folder":"f"}"#.utf8), key: CacheKey("p"))
        let local = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: files.path("a.db")))
        try await local.collection(named: "notes").declareReferences([
            StorageReference("folder", to: "folders", onRemoval: .remove)
        ])
        #expect(await bodega("rm", files.path("a.db") + "#folders", "f").status == 0)
        #expect(try await files.items("a.db", "notes") == [])
        #expect(await bodega("sync", files.path("a.db"), files.path("remote.db")).status == 1)
        #expect(try await files.items("remote.db", "notes")?.count == 1)
        #expect(await bodega("outbox", "discard", files.path("a.db"), "--all", "--yes").text == "discarded 2\n")
        #expect(try await files.items("a.db", "folders")?.count == 1)
        #expect(try await files.items("a.db", "notes")?.count == 1)
        await files.sync("a.db", "remote.db")
        #expect(try await files.items("remote.db", "notes")?.count == 1)
    }

    @Test("lists the reason of a parked change, retries it, and gives it up")
    func parked() async throws {
        let files = try Replicas()
        try await files.refuseRemovals()
        let path = files.path("a.db")
        #expect(await bodega("sync", path, files.path("remote.db")).status == 1)
        let listed = await bodega("outbox", path).text
        #expect(listed.hasPrefix("notes\tremoved\tparked\t1\treferenced: "), "\(listed)")
        #expect(await bodega("outbox", "retry", path, "1").status == 0)
        #expect(await bodega("outbox", path).text == "notes\tremoved\twaiting\t1\t\n")
        // It does not wait for a retry any more.
        #expect(await bodega("outbox", "retry", path, "1").status == 1)
        #expect(await bodega("sync", path, files.path("remote.db")).status == 1)
        #expect(await bodega("outbox", "retry", path, "--all").status == 0)
        // The item refers to it no longer.
        #expect(await bodega("rm", files.path("remote.db") + "#tags", "t").status == 0)
        #expect(await files.sync("a.db", "remote.db") == "sent 1, received 0\n")
        #expect(try await files.items("remote.db") == [row("2", "2")])
    }

    @Test("gives up changes: the items are as they were, or are removed")
    func discard() async throws {
        let files = try Replicas()
        for key in ["1", "2", "3", "4"] { await files.put("old \(key)", key, in: "a.db") }
        await files.sync("a.db", "remote.db")
        let path = files.path("a.db")
        for key in ["1", "2", "3"] { await files.put("new \(key)", key, in: "a.db") }
        #expect(await bodega("rm", path + "#notes", "4").status == 0)
        await files.put("added", "5", in: "a.db")
        #expect(await bodega("outbox", "discard", path, "1", "4", "5").text == "discarded 3\n")
        let before = try await files.items("a.db")
        #expect(
            before == [row("1", "old 1"), row("2", "new 2"), row("3", "new 3"), row("4", "old 4")])
        let missing = await bodega("outbox", "discard", path, "2", "1")
        #expect(missing.status == 3 && missing.errors.contains("no change of an item under the key 1"))
        for arguments in [["--verbatim", "2"], ["--collection", "other", "2"]] {
            #expect(await bodega(arguments: ["outbox", "discard", path] + arguments).status == 3)
        }
        #expect(try await files.items("a.db") == before)

        #expect(await bodega("outbox", "discard", path, "--all").status == 64)
        for (answer, status) in [("n\n", 1), ("", 1), ("y\n", 0)] as [(String, Int32)] {
            let asked = await bodega("outbox", "discard", path, "--all", input: Array(answer.utf8)) {
                $0.isInputTerminal = true
                $0.isErrorTerminal = true
            }
            #expect(asked.errors.hasPrefix("Give up 2 changes? [y/N] ") && asked.status == status, "\(asked)")
            #expect(
                try await files.items("a.db")
                    == (status == 1 ? before : ["1", "2", "3", "4"].map { row($0, "old \($0)") }))
        }
        #expect(await bodega("outbox", path).text.isEmpty)
        #expect(await files.sync("a.db", "remote.db") == "sent 0, received 0\n")
        #expect(await bodega("outbox", "discard", path, "--all").text == "discarded 0\n")
    }

    @Test("needs a collection or a kind for a key that several items have")
    func ambiguous() async throws {
        let files = try Replicas()
        for name in ["notes", "tags"] { await files.put("1", "k", in: "a.db", name) }
        await files.sync("a.db", "remote.db")
        for name in ["notes", "tags"] { await files.put("2", "k", in: "a.db", name) }
        let path = files.path("a.db")
        #expect(await bodega("outbox", "discard", path, "k").status == 64)
        #expect(await bodega("outbox", "discard", path, "k", "--collection", "tags").text == "discarded 1\n")
        #expect(try await files.items("a.db", "tags") == [row("k", "1")])
        #expect(try await files.items("a.db", "notes") == [row("k", "2")])
        #expect(await bodega("outbox", "discard", path + "#notes", "k").text == "discarded 1\n")
        #expect(try await files.items("a.db", "notes") == [row("k", "1")])
    }

    @Test("gives up a transaction as a whole")
    func transaction() async throws {
        let files = try Replicas()
        for name in ["notes", "tags"] { await files.put("1", "k", in: "a.db", name) }
        await files.sync("a.db", "remote.db")
        // An app that changes two collections together.
        let file = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: files.path("a.db")))
        var options = SyncOptions()
        options.startsPaused = true
        let sync = try await StorageSync(
            local: { try file.collection(named: $0) }, remote: { _ in MemoryStorageEngine() }, options: options)
        let (notes, tags) = (
            try await sync.collection(named: "notes"), try await sync.collection(named: "tags")
        )
        let write = StorageBatch([.write(key: CacheKey("k"), data: Data("2".utf8))])
        let outcomes = try await StorageBatchGroup.apply([(notes, write), (tags, write)])
        let areApplied = outcomes.map(\.value.wasApplied)
        #expect(areApplied == [true, true])
        try await file.close()
        let path = files.path("a.db")
        #expect(await bodega("outbox", "discard", path, "k", "--collection", "tags").text == "discarded 2\n")
        for name in ["notes", "tags"] {
            let items = try await files.items("a.db", name)
            #expect(items == [row("k", "1")])
        }
    }

    // MARK: conflicts

    @Test("shows the versions of a conflict and what was lost, and removes it from the list")
    func conflicts() async throws {
        let files = try Replicas()
        await files.put(#"{"t":"base","n":[1]}"#, "1", in: "a.db")
        await files.put("base", "2", in: "a.db")
        await files.sync("a.db", "remote.db")
        await files.sync("b.db", "remote.db", "--collection", "notes")
        await files.put(#"{"t":"a","n":[1]}"#, "1", in: "a.db")
        await files.put(#"{"t":"b","n":[1],"u":1}"#, "1", in: "b.db")
        await files.put("a\u{1B}", "2", in: "a.db")
        #expect(await bodega("rm", files.path("b.db") + "#notes", "2").status == 0)
        await files.sync("a.db", "remote.db")
        await files.sync("b.db", "remote.db")
        let path = files.path("b.db")
        let json = Data(await bodega("outbox", "conflicts", path, "--json").output)
        let lines = json.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 2)
        let objects = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: $0) as? [String: Any])
        }
        let first = try #require(objects.first { $0["key"] as? String == "1" })
        let second = try #require(objects.first { $0["key"] as? String == "2" })
        func version(_ object: [String: Any], _ name: String) throws -> NSDictionary? {
            try object[name].map { try #require($0 as? NSDictionary) }
        }
        #expect(try version(first, "base") == ["json": ["t": "base", "n": [1]]])
        #expect(try version(first, "local") == ["json": ["t": "b", "n": [1], "u": 1]])
        #expect(try version(first, "remote") == ["json": ["t": "a", "n": [1]]])
        #expect(try version(first, "merged") == ["json": ["t": "b", "n": [1], "u": 1]])
        #expect(
            first["losses"] as? NSArray == [["path": "$['t']", "side": "remote", "lost": ["json": "a"]]] as NSArray)
        #expect(try version(second, "base") == ["text": "base"])
        #expect(try version(second, "local") == nil)
        #expect(try version(second, "merged") == ["text": "a\u{1B}"])
        #expect(second["losses"] as? NSArray == [["path": "$", "side": "local"]] as NSArray)

        let text = await bodega("outbox", "conflicts", path).text
        let id = try #require(second["id"] as? String)
        #expect(
            text.contains(
                """
                  base    base
                  local   (removed)
                  remote  a\\u{1B}
                  merged  a\\u{1B}
                  lost    $ of local: (removed)

                """) && text.contains(id), "\(text)")
        #expect(await bodega("outbox", "conflicts", path, "--collection", "tags").text.isEmpty)

        #expect(await bodega("outbox", "conflicts", path, "--remove", "x").status == 64)
        #expect(await bodega("outbox", "conflicts", path, "--remove", UUID().uuidString).status == 3)
        #expect(await bodega("outbox", "conflicts", path, "--remove", id).status == 0)
        let left = Data(await bodega("outbox", "conflicts", path, "--json").output)
        #expect(try await Replicas.output(["jq", "-r", ".key"], input: left) == ["1"])
        #expect(await bodega("outbox", "conflicts", path, "--all").status == 64)
        #expect(await bodega("outbox", "conflicts", path, "--all", "--yes").status == 0)
        #expect(await bodega("outbox", "conflicts", path).text.isEmpty)
        #expect(try await files.items("b.db")?.count == 2)
    }
}
#endif
