import Foundation
import Testing

/// The examples as users run them, each in a folder of its own.
@Suite struct ExamplesTests {

    /// A process of an example and its output, with that of errors.
    private func process(
        _ name: String, _ arguments: [String], in home: URL
    ) throws -> (process: Process, output: Pipe) {
        let process = Process()
        process.executableURL = try Self.products().appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["HOME": home.path, "XDG_DATA_HOME": home.path, "CFFIXED_USER_HOME": home.path]
        ) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        return (process, output)
    }

    /// Runs an example and returns its output, with that of errors.
    private func run(_ name: String, _ arguments: String..., in home: URL) async throws -> (
        status: Int32, lines: [String]
    ) {
        let (process, output) = try process(name, arguments, in: home)
        let (exits, exit) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            exit.yield($0.terminationStatus)
            exit.finish()
        }
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let status = try #require(await exits.first { _ in true })
        return (status, text.split(separator: "\n").map(String.init))
    }

    /// The build puts the examples into the same folder as the tests.
    private static func products() throws -> URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folders =
            [bundle?.deletingLastPathComponent()].compactMap(\.self)
            + CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        return try #require(
            folders.first {
                FileManager.default.isExecutableFile(atPath: $0.appendingPathComponent("Notes").path)
            })
    }

    private func withHome(_ body: (URL) async throws -> Void) async throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        do { try await body(home) } catch {
            try FileManager.default.removeItem(at: home)
            throw error
        }
        try FileManager.default.removeItem(at: home)
    }

    @Test func `Notes are kept, finished and removed`() async throws {
        try await withHome { home in
            #expect(try await run("Notes", in: home) == (0, []))
            #expect(try await run("Notes", "add", "Buy", "milk", in: home) == (0, ["1 • Buy milk"]))
            #expect(try await run("Notes", "add", "Buy bread", in: home) == (0, ["1 • Buy milk", "2 • Buy bread"]))
            #expect(try await run("Notes", "done", "1", in: home) == (0, ["1 ✓ Buy milk", "2 • Buy bread"]))
            #expect(try await run("Notes", "clear", in: home) == (0, ["1 • Buy bread"]))
            let wrong = try await run("Notes", "remove", "7", in: home)
            #expect(wrong == (1, [#""7" is not the number of a note. "Notes" lists the notes."#]))
            #expect(try await run("Notes", "remove", "1", in: home) == (0, []))
            for (argument, status) in [("help", 0), ("add", 64), ("typo", 64)] as [(String, Int32)] {
                let usage = try await run("Notes", argument, in: home)
                #expect(usage.status == status && usage.lines.first?.hasPrefix("Usage: Notes") == true)
            }
        }
    }

    @Test func `Notes that another process changes are listed completely`() async throws {
        try await withHome { home in
            #expect(try await run("Notes", "add", "Buy milk", in: home) == (0, ["1 • Buy milk"]))
            let (watch, output) = try process("Notes", ["watch"], in: home)
            try watch.run()
            defer { watch.terminate() }
            func read(until end: String) -> String {
                var text = ""
                while !text.hasSuffix(end) {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    text += String(decoding: data, as: UTF8.self)
                }
                return text
            }
            #expect(read(until: "milk\n") == "—\n1 • Buy milk\n")
            #expect(try await run("Notes", "add", "Buy tea", in: home).status == 0)
            #expect(read(until: "tea\n") == "—\n1 • Buy milk\n2 • Buy tea\n")
        }
    }

    @Test func `Contacts are saved, found, archived and removed`() async throws {
        try await withHome { home in
            #expect(try await run("Contacts", "add", "Zora", "1", in: home) == (0, ["saved Zora"]))
            #expect(try await run("Contacts", "add", "Dolly", "2", in: home) == (0, ["saved Dolly"]))
            #expect(try await run("Contacts", "add", "Zora", "3", in: home) == (0, ["saved Zora"]))
            #expect(try await run("Contacts", in: home) == (0, ["Zora 3", "Dolly 2"]))
            #expect(try await run("Contacts", "find", "dol", in: home) == (0, ["Dolly 2"]))
            let archived = try await run("Contacts", "archive", home.path + "/archive", in: home)
            #expect(archived == (0, ["archived 2"]))
            #expect(try await run("Contacts", "add", "Zora", in: home).status == 64)
            #expect(try await run("Contacts", "remove", "Zora", in: home) == (0, ["removed Zora"]))
            let missing = try await run("Contacts", "remove", "Zora", in: home)
            #expect(missing.status == 1 && missing.lines.first?.hasPrefix("notFound") == true)
            #expect(try await run("Contacts", in: home) == (0, ["Dolly 2"]))
        }
    }
}

private func == (first: (status: Int32, lines: [String]), second: (Int32, [String])) -> Bool {
    first.status == second.0 && first.lines == second.1
}
