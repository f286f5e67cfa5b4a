#if CommandLineTool
import Bodega
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("A command that only reads")
struct ReadOnlyTests {

    /// The arguments after the store or the stores.
    private static let commands: [(name: String, arguments: [String])] = [
        ("ls", []), ("ls", ["--long"]), ("ls", ["--json"]), ("get", ["a"]), ("get", ["absent"]), ("count", []),
        ("stat", []), ("stat", ["--json"]), ("export", []), ("verify", []), ("verify", ["--json"]), ("query", []),
        ("query", ["--where", "@.id", "--sort", "id"]),
        ("query", ["--explain", "--sort", "id"]), ("query", ["--indexes"]),
    ]

    @Test("changes nothing in a store or beside it", arguments: storeAddresses)
    func changesNothing(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let store = address(folder)
            _ = await bodega("import", store, "--key", "id", input: Array("{\"id\":\"a\"}\n{\"id\":\"b\"}\n".utf8))
            let before = try Listing(of: folder)
            for (name, arguments) in Self.commands {
                let result = await run([name, store] + arguments)
                #expect(result.status == 0 || arguments == ["absent"], "\(name): \(result.errors)")
                #expect(try Listing(of: folder) == before, "after \(name) \(arguments)")
            }
        }
    }

    @Test("leaves a file of Bodega 2 in its layout", arguments: ["bodega-2.sqlite3", "emporium-1.sqlite3"])
    func fixtures(name: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("data.sqlite3")
            try FileManager.default.copyItem(at: Fixtures.file(name), to: file)
            let before = try Listing(of: folder)
            for (name, arguments) in Self.commands where name != "get" {
                #expect(await run([name, file.path] + arguments).status == 0)
                #expect(try Listing(of: folder) == before, "after \(name) \(arguments)")
            }
            #expect(await bodega("get", file.path, "first").text == "value of \"first\"")
            #expect(try Listing(of: folder) == before)
        }
    }

    @Test("doesn't create a missing store", arguments: storeAddresses)
    func missing(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let before = try Listing(of: folder)
            for (name, arguments) in Self.commands {
                let result = await run([name, address(folder)] + arguments)
                #expect(result.status == 1)
                #expect(result.errors.hasPrefix("bodega: There is no store at "))
                #expect(try Listing(of: folder) == before)
            }
        }
    }

    @Test("on two stores changes nothing in the one that is read", arguments: storeAddresses)
    func twoStores(address: @Sendable (URL) -> String) async throws {
        try await withFolder { folder in
            let source = folder.appendingPathComponent("source")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: false)
            let store = address(source)
            _ = await bodega("import", store, "--key", "id", input: Array("{\"id\":\"a\"}\n{\"id\":\"b\"}\n".utf8))
            let before = try Listing(of: source)
            #expect(await bodega("copy", store, "disk:\(folder.path)/copy").status == 0)
            #expect(await bodega("diff", store, "disk:\(folder.path)/copy").status == 0)
            if store.hasPrefix("sqlite:") {
                #expect(await bodega("backup", store, folder.path + "/backup.db").status == 0)
            }
            #expect(try Listing(of: source) == before)
        }
    }

    private func run(_ arguments: [String]) async -> RunResult {
        let test = TestConsole()
        let status = await Tool.run(arguments, console: test.console)
        return RunResult(status: status, output: test.output.bytes, errors: test.errors.text)
    }

    @Test("leaves no trace of a check or a watch when no other process uses the store")
    func checkingAndWatching() async throws {
        try await withFolder { folder in
            let store = storeAddresses[0](folder)
            _ = await bodega("put", store, "a", input: [1])
            let before = try Listing(of: folder)
            #expect(await bodega("stat", store, "--check").status == 0)
            #expect(try Listing(of: folder) == before)
            let interruption = Interruption()
            let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
            var test = TestConsole()
            test.console.interruption = interruption
            // By then the command has read every item once.
            test.console.onReady = { continuation.finish() }
            async let status = Tool.run(["watch", store, "--interval", "0.01"], console: test.console)
            for await _ in ready {}
            #expect(try Listing(of: folder) == before)
            interruption.interrupt(.interrupted)
            #expect(await status == 0)
            #expect(try Listing(of: folder) == before)
        }
    }
}
#endif
