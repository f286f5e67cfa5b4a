import Bodega
import BodegaRemote
import Browsing
import Foundation
import Testing

@Suite("The unit of the guide for systemd")
struct SystemdTests {
    private static let path = "/usr/bin/systemd-analyze"

    @Test(
        "is valid, and exposes little",
        .enabled(if: FileManager.default.isExecutableFile(atPath: path), "systemd is not installed"))
    func unit() async throws {
        let tool = try BodegaTool()
        try writeUnit(into: tool)
        for arguments in [["verify", "--man=no"], ["security", "--offline=true", "--threshold=20"]] {
            let run = try await ProgramRun(Self.path, arguments + [tool.path("bodega.service")])
            #expect(run.status == 0, "\(run.output)")
            if arguments[0] == "verify" { #expect(run.output.isEmpty, "\(run.output)") }
        }
    }

    private func writeUnit(into tool: BodegaTool) throws {
        let unit = try Guide("RunningAServer").snippet("ini")
            .replacingOccurrences(of: "/usr/local/bin/bodega", with: try BodegaTool.executable.path)
            .replacingOccurrences(of: "User=bodega", with: "User=root")
        try Data(unit.utf8).write(to: URL(fileURLWithPath: tool.path("bodega.service")))
    }

    /// What a unit refuses ends the program here, so that it is noticed.
    @Test(
        "allows the system calls of a server that reads, writes and streams",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: path)
                && FileManager.default.fileExists(atPath: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
            "systemd or the kernel's header for x86-64 is not installed"))
    func systemCalls() async throws {
        let tool = try BodegaTool()
        try writeUnit(into: tool)
        #expect(try await tool.run(["put", "a.db#notes", "1"], input: Data("1".utf8)).status == 0)
        let token = try await tool.run(["token", "create", tool.path("tokens.db"), "Test", "--on", "notes"]).text
            .trimmingCharacters(in: .newlines)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Systemd/system-calls.py")
        let server = try await ServerProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["python3", script.path, tool.path("bodega.service"), try BodegaTool.executable.path]
                + ["serve", tool.path("a.db"), "--tokens", tool.path("tokens.db"), "--port", "0"],
            addressEndingWith: "\n", log: tool.folder.appendingPathComponent("log"))
        let database = try RemoteDatabase(try #require(URL(string: server.address))) { token }
        let notes = try await database.collection(named: "notes")
        let log = try #require(notes.log)
        let items = (0..<2_000).map { (CacheKey("n\($0)"), Data(String(repeating: "\($0)", count: 1_000).utf8)) }
        var signals = log.changeSignals(excluding: nil).makeAsyncIterator()
        _ = await signals.next()
        try await notes.write(items)
        _ = await signals.next()
        #expect(try await notes.fetchAll().count == 2_001)
        try await notes.removeAllData()
        #expect(try await tool.run(["token", "list", tool.path("tokens.db")]).status == 0)
        #expect(try await server.stop() == 0)
    }
}
