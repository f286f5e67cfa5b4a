#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// The package's own commands read their options before they do anything else.
@Suite("The commands in bin", .enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/bash")))
struct ScriptTests {

    static let commands = Result {
        let folder = Fixtures.root.appendingPathComponent("bin")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent(name).path)
                && !["lib"].contains(name)
        }.sorted()
    }

    /// The programs that install, build or start something.
    private static let programs = [
        "swift", "swiftc", "apt-get", "sudo", "brew", "git", "curl", "docker", "initdb", "mktemp", "psql", "xcrun",
    ]

    @Test("show their help, and refuse unknown options, without calling another program")
    func options() async throws {
        let commands = try Self.commands.get()
        #expect(commands.contains("bench") && commands.contains("chaos"))
        try await withFolder { folder in
            let log = folder.appendingPathComponent("log")
            for program in Self.programs {
                let file = folder.appendingPathComponent(program)
                try Data("#!/bin/sh\necho \"\(program) $*\" >>'\(log.path)'\nexit 1\n".utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
            }
            for command in commands {
                for (arguments, status) in [
                    (["--help"], 0), (["-h"], 0), (["--frobnicate"], 64), (["--frobnicate", "--help"], 64), (["x"], 64),
                ] as [([String], Int32)] {
                    try Data().write(to: log)
                    let process = Process()
                    let output = Pipe.separate()
                    process.executableURL = Fixtures.root.appendingPathComponent("bin/\(command)")
                    process.arguments = arguments
                    process.environment = ["PATH": "\(folder.path):/usr/bin:/bin", "HOME": folder.path]
                    process.standardInput = FileHandle.nullDevice
                    process.standardOutput = output
                    process.standardError = output
                    try process.start()
                    let text = String(decoding: await process.output(output), as: UTF8.self)
                    #expect(process.terminationStatus == status, "\(command) \(arguments): \(text)")
                    #expect(text.contains(status == 0 ? "Usage: bin/\(command)" : "is not an option"), "\(command)")
                    #expect(try String(contentsOf: log, encoding: .utf8) == "", "\(command) \(arguments)")
                }
            }
        }
    }
}
#endif
