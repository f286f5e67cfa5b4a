package import Foundation

extension PostgresServer {
    /// Copies the server's files, as a cold backup does. The server must be stopped.
    package func backUpFiles() async throws -> URL {
        let copy = folder.url.appendingPathComponent("backup-\(UInt32.random(in: .min ... .max))")
        try await copyFiles(folder.data, to: copy)
        return copy
    }

    /// Replaces the server's files with those of a backup. The server must be stopped.
    package func restoreFiles(_ copy: URL) async throws {
        try FileManager.default.removeItem(at: folder.data)
        try await copyFiles(copy, to: folder.data)
    }

    private func copyFiles(_ source: URL, to destination: URL) async throws {
        if isRunning { throw PostgresServerError("The server must be stopped before its files are copied.") }
        let program = URL(fileURLWithPath: "/bin/cp")
        _ = try await account.command(program, ["-a", source.path, destination.path], in: folder.url).run().checked()
    }
}
