import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Other processes use stored values by the public API, with folders of their own as home.
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

    @Test("A value survives the end of the program, also a sudden one", arguments: ["standard", "a suite/1"])
    func relaunch(_ suite: String) async throws {
        #expect(try await run("get", suite, "key") == ["none"])
        #expect(try await run("set", suite, "key", "first") == [])
        #expect(try await run("get", suite, "key") == ["first"])
        #expect(try await run("set-and-die", suite, "key", "second") == [])
        #expect(try await run("get", suite, "key") == ["second"])
        let another = suite == "standard" ? "another" : "standard"
        #expect(try await run("get", another, "key") == ["none"])
    }

    @Test func `The standard user defaults are those of the suite named like the program`() async throws {
        #expect(try await run("set", "standard", "key", "value") == [])
        #expect(try await run("get", "TestChild", "key") == ["value"])
    }

    @Test("Processes that write different values at a time lose none", arguments: ["standard", "suite"])
    func concurrentWriters(_ suite: String) async throws {
        let writers = try (0..<4).map { try child(["write-many", suite, "writer\($0)", "50"]) }
        for writer in writers { #expect(await writer.lines().count == 50) }
        for number in 0..<4 {
            #expect(try await run("count", suite, "writer\(number)", "50") == ["50"])
        }
    }

    @Test func `Processes that change one value at a time lose no change`() async throws {
        let writers = try (0..<4).map { _ in try child(["increment", "suite", "number", "50"]) }
        for writer in writers { #expect(await writer.lines() == ["true"]) }
        let data = try Data(contentsOf: home.file("data/emporium/defaults/suite.plist"))
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        #expect(list as? [String: Data] == ["number": Data(#"{"value":200}"#.utf8)])
    }

    @Test func `What was set before a kill is there, and all else too`() async throws {
        let seed = Seed.current
        print("kill test of stored values: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<10 {
            let writer = try child(["write-many", "suite", "round\(round)", "100000"])
            var count = 0
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                _ = try #require(await writer.nextLine())
                count += 1
            }
            writer.kill()
            count += await writer.lines().count
            #expect(try await run("count", "suite", "round\(round)", "\(count)") == ["\(count)"])
        }
        #expect(try await run("count", "suite", "round0", "1") == ["1"])
    }

    @Test func `A process hears of changes by another while it waits for them`() async throws {
        #expect(try await run("set", "suite", "key", "first") == [])
        let follower = try child(["follow", "suite", "key"])
        #expect(await follower.nextLine() == "first")
        #expect(try await run("set", "suite", "another", "value") == [])
        #expect(try await run("set", "suite", "key", "second") == [])
        #expect(await follower.nextLine() == "second")
        #expect(try await run("set", "suite", "key", "end") == [])
        #expect(await follower.lines() == ["end"])
    }

    @Test func `A value that another process has set is the one that is read next`() async throws {
        let (input, otherInput) = (Pipe(), Pipe())
        let one = try child(["converse", "suite"], input: input)
        let other = try child(["converse", "suite"], input: otherInput)
        func ask(_ child: Child, _ pipe: Pipe, _ line: String) async throws -> String? {
            try pipe.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
            return await child.nextLine()
        }
        for round in 0..<20 {
            // Of one length, so that nothing but its number tells a new file.
            #expect(try await ask(one, input, "set key \(round % 10)") == "\(round % 10)")
            #expect(try await ask(other, otherInput, "get key") == "\(round % 10)")
            #expect(try await ask(other, otherInput, "set key x\(round % 10)") == "x\(round % 10)")
            #expect(try await ask(one, input, "get key") == "x\(round % 10)")
        }
        try input.fileHandleForWriting.close()
        try otherInput.fileHandleForWriting.close()
        #expect(await one.lines() == [])
        #expect(await other.lines() == [])
    }

    @Test("A value that only the platform's user defaults have is found", arguments: ["standard", "suite"])
    func takeOver(_ suite: String) async throws {
        #expect(try await run("set-in-defaults", suite, "key", #"{"value":"old"}"#) == [])
        #expect(try await run("get", suite, "key") == ["old"])
        // It has been copied: the user defaults may lose it.
        #expect(try await run("set-in-defaults", suite, "key", #"{"value":"newer"}"#) == [])
        #expect(try await run("get", suite, "key") == ["old"])
        #expect(try await run("set", suite, "key", "new") == [])
        #expect(try await run("get", suite, "key") == ["new"])
    }

    @Test func `A registered default is found, and not taken for a value that was set`() async throws {
        #expect(try await run("registered", "suite", "key") == ["registered"])
        #expect(try await run("get", "suite", "key") == ["none"])
    }

    @Test func `What is set can be read in the user defaults of the process`() async throws {
        #expect(try await run("set-and-get-from-defaults", "suite", "key", "value") == [#"{"value":"value"}"#])
    }
}
