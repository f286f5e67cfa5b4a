#if CommandLineTool
#if Postgres
import Bodega
@testable import BodegaCommands
import BodegaPostgres
import BodegaTesting
import Foundation
import TestSupport
import Testing

@Suite("On a PostgreSQL database")
struct PostgresCommandTests {

    @Test("each command does what it does on a file")
    func commands() async throws {
        let store = try await PostgresServer.shared().makeDatabase().url
        #expect(await bodega("put", store, "a", input: Array(#"{"n": 1}"#.utf8)).status == 0)
        let lines = "{\"id\": \"b\", \"n\": 2}\n{\"id\": \"c\", \"n\": 3}\n"
        #expect(await bodega("import", store, "--key", "id", input: Array(lines.utf8)).status == 0)
        #expect(await bodega("ls", store).text == "a\nb\nc\n")
        #expect(await bodega("count", store).text == "3\n")
        #expect(await bodega("get", store, "a").text == #"{"n": 1}"#)
        #expect(await bodega("query", store, "--where", "@.n > 1", "--select", "n").text.contains("3"))
        #expect(await bodega("verify", store, "--expect-json").text == "no problem found, 3 items read\n")
        #expect(await bodega("rm", store, "b").status == 0)
        #expect(await bodega("get", store, "b").status == 3)
        #expect(await bodega("put", store, "--collection", "more", "x", input: [1]).status == 0)
        #expect(await bodega("ls", store + "#more").text == "x\n")
        #expect(await bodega("verify", store).text == "no problem found, 3 items read\n")
        let statistics = await bodega("stat", store)
        #expect(statistics.text.hasPrefix("engine      postgres\nurl         postgresql://emporium@127.0.0.1:"))
        #expect(statistics.text.contains("\ncollections more\nitems       2\n"))
        #expect(!statistics.text.contains("on disk"))
        #expect(await bodega("stat", store, "--json").text.contains(#""collections":["more"],"count":2,"#))
        #expect(await bodega("diff", store, store + "#more").text == "- a\n- c\n+ x\n")
        try await withFolder { folder in
            let export = folder.appendingPathComponent("all.ndjson").path
            #expect(await bodega("export", store, "--output", export).status == 0)
            #expect(await bodega("import", store + "#copy", export).status == 0)
            #expect(await bodega("diff", store, store + "#copy") == RunResult(status: 0, output: [], errors: ""))
        }
        #expect(await bodega("rm", store, "--all", "--yes").status == 0)
        #expect(await bodega("count", store).text == "0\n")
    }

    #if Server
    @Test("serve creates what the server needs, but no collection with a misspelled name")
    func serving() async throws {
        let store = try await PostgresServer.shared().makeDatabase().url
        #expect(await bodega("put", store + "#notes", "milk", input: [1]).status == 0)
        for name in ["", "#notes"] {
            try await withFolder { folder in
                let server = try ToolProcess(["serve", store + name, "--without-tokens", "--port", "0"], in: folder)
                defer { server.send(SIGKILL) }
                try await waitUntil("the server listens") { try server.outputText.hasSuffix("\n") }
                let address = try server.outputText.dropLast() + "#notes"
                #expect(await bodega("get", "\(address)", "milk").output == [1])
                #expect(await bodega("put", "\(address)", "tea", input: [2]).status == 0)
                server.send(SIGTERM)
                #expect(try await server.end() == 0)
            }
        }
        #expect(await bodega("ls", store + "#notes").text == "milk\ntea\n")
        let misspelled = await bodega("serve", store + "#note", "--without-tokens", "--port", "0")
        #expect(misspelled.status == 1 && misspelled.errors.contains("no collection \"note\""), "\(misspelled)")
        #expect(await bodega("count", store + "#note").status == 1)
    }
    #endif

    @Test("a keyset keeps its old keys while another collection needs them")
    func rotation() async throws {
        let store = try await PostgresServer.shared().makeDatabase().url
        try await withFolder { folder in
            let place = try await EncryptedPlace(folder) { _ in store + "#notes" }
            let rotate = ["keyset", "rotate", place.store, "--keyset", place.keyset, "--remove-old-keys"]
            #expect(await bodega(arguments: rotate).status == 0)
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 1)
            for (other, name) in [(store + "#drafts", "\"drafts\""), (store, "the unnamed one, \"drafts\"")] {
                #expect(await bodega("put", other, "a", "--keyset", place.keyset, input: [1]).status == 0)
                let rotated = await bodega(arguments: rotate)
                #expect(rotated.status == 1 && rotated.errors.contains(": \(name). Run the command"))
            }
            #expect(try KeysetFile(path: place.keyset).read().keyIDs.count == 3)
        }
    }

    @Test("watch shows what is inserted, updated or removed")
    func watch() async throws {
        try await WatchRun.expectChanges(of: try await PostgresServer.shared().makeDatabase().url)
    }

    @Test(
        "a store is copied up and back without loss: keys of all kinds, bytes, order, dates", arguments: storeAddresses)
    func copies(address: @Sendable (URL) -> String) async throws {
        let store = try await PostgresServer.shared().makeDatabase().url + "#notes"
        try await withFolder { folder in
            let source = address(folder)
            let engine = try #require(try StorageAddress(parsing: source).open() as? any StorageBackend)
            let items = Hostile.items.enumerated().map { index, item in
                let date = Date(timeIntervalSince1970: Double(1_000_000 - index) + 0.125)
                return StorageItem(
                    key: item.key, data: item.data,
                    dates: StorageDates(createdAt: date, updatedAt: date.addingTimeInterval(5)))
            }
            try await engine.write(items: items)
            #expect(await bodega("copy", source, store).text == "copied \(items.count)\n")
            #expect(await bodega("copy", source, store).text == "copied 0, already there \(items.count)\n")
            #expect(await bodega("diff", source, store).status == 0)
            let database = try await PostgresStorageEngine(StorageAddress(parsing: store))
            #expect(try await database.fetchItems(keys: database.fetchKeys()) == items)
            let back = address(folder.appendingPathComponent("back"))
            #expect(await bodega("copy", store, back).text == "copied \(items.count)\n")
            let copy = try StorageAddress(parsing: back).openForReading()
            #expect(try await copy.backend.fetchItems(keys: copy.fetchKeys()) == items)
        }
    }

    @Test("reading and removing create neither tables nor a collection")
    func mustExist() async throws {
        let database = try await PostgresServer.shared().makeDatabase()
        for command in ["ls", "count", "stat", "verify", "export", "watch"] {
            let result = await bodega(command, database.url)
            #expect(result.status == 1, "\(command)")
            #expect((result.errors + result.text).contains("holds no items"), "\(command)")
        }
        #expect(await bodega("rm", database.url, "a").status == 1)
        #expect(try await database.sql("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'emporium%'") == "0")
        _ = await bodega("put", database.url + "#notes", "a", input: [1])
        let missing = await bodega("ls", database.url + "#typo")
        #expect(missing.status == 1)
        #expect(missing.errors.contains(#"no collection "typo". There are: "notes"."#))
        #expect(await bodega("copy", database.url + "#typo", database.url + "#other").status == 1)
        #expect(try await database.sql("SELECT count(*) FROM emporium_collections") == "1")
    }

    @Test("unsupported commands and options are refused with an alternative")
    func refused() async throws {
        let store = "postgres://u:secret@127.0.0.1:1/d"
        for (arguments, hint) in [
            (["backup", store, "x.db"], "pg_dump"), (["compact", store], "VACUUM"),
            (["stat", store, "--check"], "for SQLite files"), (["copy", store, store], "the same store"),
            (["ls", store + "#a", "--collection", "b"], "Name one"), (["ls", "postgres:x"], "postgres://USER"),
            (["ls", "postgres://h/d?nonsense=1"], "connection string"),
        ] {
            let test = TestConsole()
            #expect(await Tool.run(arguments, console: test.console) == 64, "\(arguments)")
            #expect(test.errors.text.contains(hint), "\(test.errors.text)")
            #expect(!test.errors.text.contains("secret"))
        }
    }

    @Test("no part of a password is shown, for any misplaced or malformed address")
    func addresses() async throws {
        var generator = SeededGenerator(seed: Seed.current)
        for _ in 0..<60 {
            let secret = HostileAddress(using: &generator)
            // None of these connects: the option or the position of the address is invalid.
            for arguments in [
                ["ls", secret.text, "--collection", ""], ["ls", secret.text, "more"], [secret.text, "ls"],
                ["compact", secret.text], ["backup", secret.text, "x.db"],
                ["ls", "sqlite:x", "--collection", secret.text],
                ["stat", secret.text, "--check"], ["get", "no-such-store", "--nonsense=\(secret.text)"],
                ["watch", "sqlite:x", "--interval=\(secret.text)"],
            ] where !arguments.contains(where: { $0.hasPrefix("-") && !$0.hasPrefix("--") }) {
                let test = TestConsole()
                #expect(await Tool.run(arguments, console: test.console) != 0)
                let text = test.errors.text + test.output.text
                #expect(!secret.isShown(in: text), "\(text) of \(arguments), seed \(Seed.current)")
            }
        }
        for address in ["postgres://app:p@ss/S3cret@host", "postgres://app:pa/S3cret@host"] {
            for command in ["ls", "stat", "verify", "watch", "count", "export"] {
                let result = await bodega(command, address)
                #expect(result.status == 64)
                #expect(!(result.text + result.errors).contains("S3cret") && !result.errors.contains("\"ss\""))
            }
        }
    }

    @Test(
        "no password is shown: not of a server that is gone, refuses it, or lacks the database", arguments: ["", "#c"])
    func secrets(collection: String) async throws {
        let server = try await PostgresServer.shared()
        let place = "127.0.0.1:\(server.port)"
        for store in [
            "postgres://u:topsecret@127.0.0.1:1/d",
            "postgres://\(PostgresServer.user):topsecret@\(place)/\(PostgresServer.user)",
            "postgres://\(place)/none?user=\(PostgresServer.user)&password=topsecret",
            server.url(database: "none"),
        ] {
            for command in ["ls", "verify", "stat"] {
                let result = await bodega(command, store + collection)
                #expect(result.status == 1)
                for secret in ["topsecret", PostgresServer.password, "pa55"] {
                    #expect(!(result.errors + result.text).contains(secret))
                }
            }
        }
    }
}
#else
@testable import BodegaCommands
import Testing

@Suite("Without PostgreSQL")
struct WithoutPostgresTests {

    @Test("the tool explains how to build it with PostgreSQL")
    func hint() async {
        let result = await bodega("ls", "postgres://h/d")
        #expect(result.status == ExitStatus.usage.rawValue)
        #expect(result.errors.contains("--traits CommandLineTool,Postgres"))
    }
}
#endif
#endif
