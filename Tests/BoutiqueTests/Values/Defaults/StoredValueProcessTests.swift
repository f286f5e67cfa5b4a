import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Stored values in other processes, which use the public API and a home folder of their own.
@Suite struct StoredValueProcessTests {
    let home = TemporaryFolder()

    private func run(_ arguments: String...) async throws -> [String] {
        await (try child(arguments)).lines()
    }

    private func child(_ arguments: [String], input: Pipe? = nil) throws -> Child {
        let folders = ["HOME": home.path, "CFFIXED_USER_HOME": home.path]
        let bases = ["XDG_CONFIG_HOME": home.path + "/config", "XDG_DATA_HOME": home.path + "/data"]
        return try Child(["values"] + arguments, environment: folders.merging(bases) { $1 }, input: input)
    }

    @Test("A value survives the end of the program, also a sudden end", arguments: ["standard", "a suite/1"])
    func relaunch(_ suite: String) async throws {
        #expect(try await run("get", suite, "key") == ["none"])
        #expect(try await run("set", suite, "key", "first") == [])
        #expect(try await run("get", suite, "key") == ["first"])
        #expect(try await run("set-and-die", suite, "key", "second") == [])
        #expect(try await run("get", suite, "key") == ["second"])
        let another = suite == "standard" ? "another" : "standard"
        #expect(try await run("get", another, "key") == ["none"])
    }

    @Test func `The standard user defaults are the suite with the program's name`() async throws {
        #expect(try await run("set", "standard", "key", "value") == [])
        #expect(try await run("get", "TestChild", "key") == ["value"])
    }

    @Test("Processes that write different values concurrently lose none", arguments: ["standard", "suite"])
    func concurrentWriters(_ suite: String) async throws {
        let writers = try (0..<4).map { try child(["write-many", suite, "writer\($0)", "50"]) }
        for writer in writers { #expect(await writer.lines().count == 50) }
        for number in 0..<4 {
            #expect(try await run("count", suite, "writer\(number)", "50") == ["50"])
        }
    }

    @Test func `Processes that change one value concurrently lose no change`() async throws {
        let writers = try (0..<4).map { _ in try child(["increment", "suite", "number", "50"]) }
        for writer in writers { #expect(await writer.lines() == ["true"]) }
        let data = try Data(contentsOf: home.file("data/emporium/defaults/suite.values"))
        // Each change is in the file, once.
        let values = String(decoding: data, as: UTF8.self).matches(of: /{"value":(\d+)}/).map { Int($0.1) }
        #expect(values == Array(1...200))
    }

    @Test func `A waiting process is notified of changes by another process`() async throws {
        #expect(try await run("set", "suite", "key", "first") == [])
        let follower = try child(["follow", "suite", "key"])
        #expect(await follower.nextLine() == "first")
        #expect(try await run("set", "suite", "another", "value") == [])
        #expect(try await run("set", "suite", "key", "second") == [])
        #expect(await follower.nextLine() == "second")
        #expect(try await run("set", "suite", "key", "end") == [])
        #expect(await follower.lines() == ["end"])
    }

    @Test func `The next read returns the value that another process has set`() async throws {
        let (input, otherInput) = (Pipe.separate(), Pipe.separate())
        let one = try child(["converse", "suite"], input: input)
        let other = try child(["converse", "suite"], input: otherInput)
        func ask(_ child: Child, _ pipe: Pipe, _ line: String) async throws -> String? {
            try pipe.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
            return await child.nextLine()
        }
        for round in 0..<20 {
            // Values of equal length, so that a new file differs only by its inode number and time.
            #expect(try await ask(one, input, "set key a\(round % 10)") == "a\(round % 10)")
            #expect(try await ask(other, otherInput, "get key") == "a\(round % 10)")
            #expect(try await ask(other, otherInput, "set key b\(round % 10)") == "b\(round % 10)")
            #expect(try await ask(one, input, "get key") == "b\(round % 10)")
        }
        try input.fileHandleForWriting.close()
        try otherInput.fileHandleForWriting.close()
        #expect(await one.lines() == [])
        #expect(await other.lines() == [])
    }

    @Test("A value that only the platform's user defaults contain is read", arguments: ["standard", "suite"])
    func imported(_ suite: String) async throws {
        #expect(try await run("set-in-defaults", suite, "key", #"{"value":"old"}"#) == [])
        #expect(try await run("get", suite, "key") == ["old"])
        // The value was copied, so later changes in the user defaults have no effect.
        #expect(try await run("set-in-defaults", suite, "key", #"{"value":"newer"}"#) == [])
        #expect(try await run("get", suite, "key") == ["old"])
        #expect(try await run("set", suite, "key", "new") == [])
        #expect(try await run("get", suite, "key") == ["new"])
    }

    @Test func `A value of another type that other code has stored under the key is kept`() async throws {
        #expect(try await run("set-flag-in-defaults", "suite", "key") == [])
        #expect(try await run("replace-undecodable", "suite", "key") == ["none", "decodingFailed", "true"])
        #expect(try await run("get", "suite", "key") == ["new"])
        #expect(try await run("replace-undecodable", "suite", "key") == ["new", "no error", "true"])
    }

    @Test func `A registered default is read, and not treated as a stored value`() async throws {
        #expect(try await run("registered", "suite", "key") == ["registered"])
        #expect(try await run("get", "suite", "key") == ["none"])
    }

    @Test func `A launch argument replaces a stored value of any type in its process`() async throws {
        let stored = ["false", "0", "0.0", "plain", "light", "[]", "nil", "no errors"]
        #expect(try await run("presets", "suite") == stored)
        #expect(
            try await run(
                "presets", "suite", "-flag", "YES", "-count", "3", "-size", "2.5", "-name", "Jane \"Doe\"", "-theme",
                "dark",
                "-list", "[1,2]", "-maybe", "null") == [
                    "true", "3", "2.5", "Jane \"Doe\"", "dark", "[1, 2]", "nil", "no errors",
                ])
        #expect(
            try await run(
                "presets", "suite", "-flag", "1", "-count", #"{"value":7}"#, "-name", "12", "-theme",
                "<7b227661 6c756522 3a226461 726b227d>",
                "-maybe", "5") == ["true", "7", "0.0", "12", "dark", "[]", "5", "no errors"])
        // Of other types: they are ignored.
        #expect(
            try await run("presets", "suite", "-flag", "maybe", "-count", "many", "-theme", "(a, b)", "-list", "x")
                == stored)
        // None of them was stored.
        #expect(try await run("presets", "suite") == stored)
    }

    @Test func `A value that is set in spite of a launch argument is read at the next launch`() async throws {
        #expect(try await run("set", "suite", "key", "first") == [])
        #expect(try await run("set", "suite", "key", "second", "-key", "argument") == [])
        #expect(try await run("get", "suite", "key", "-key", "argument") == ["argument"])
        #expect(try await run("get", "suite", "key") == ["second"])
    }

    @Test func `Registered defaults of other types are read, and not reported as undecodable`() async throws {
        #expect(
            try await run("presets", "suite", "register") == [
                "true", "3", "2.5", "registered", "dark", "[1, 2]", "5", "no errors",
            ])
        #expect(try await run("presets", "suite") == ["false", "0", "0.0", "plain", "light", "[]", "nil", "no errors"])
    }

    @Test func `A new value can be read from the user defaults of the process`() async throws {
        #expect(try await run("set-and-get-from-defaults", "suite", "key", "value") == [#"{"value":"value"}"#])
    }

    @Test func `The snippets of Boutique's README do what it says, and their values persist until the next launch`()
        async throws
    {
        #expect(try await run("snippets", "standard", "0") == ["done"])
        #expect(try await run("snippets", "standard", "1") == ["done"])
    }
}
