#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// The shells that completion scripts are for. `bin/test` installs those that are missing.
enum Shell {

    /// Whether a shell is in PATH.
    static func isInstalled(_ name: String) -> Bool { url(of: name) != nil }

    private static func url(of name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs shell commands that get the path of its completion script as their first argument.
    ///
    /// - Returns: The lines of the output.
    static func complete(_ name: String, _ commands: String) async throws -> [String] {
        let script = await bodega("--generate-completion-script", name)
        return try await withFolder { folder in
            let file = folder.appendingPathComponent("bodega.\(name)")
            try Data(script.output).write(to: file)
            let process = Process()
            process.executableURL = url(of: name)
            process.arguments =
                switch name {
                case "bash": ["--norc", "-c", commands, name, file.path]
                case "zsh": ["-f", "-c", commands, name, file.path]
                default: ["--no-config", "--command", commands, file.path]
                }
            process.environment = ProcessInfo.processInfo.environment.merging(["HOME": folder.path]) { $1 }
            let output = Pipe.separate()
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            try process.start()
            let text = String(decoding: await process.output(output), as: UTF8.self)
            #expect(process.terminationStatus == 0, "\(text)")
            return text.split(whereSeparator: \.isNewline).map(String.init)
        }
    }
}
#endif
