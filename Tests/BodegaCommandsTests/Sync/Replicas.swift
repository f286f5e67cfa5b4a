#if CommandLineTool
import Bodega
@testable import BodegaCommands
import BodegaSync
import Foundation
import TestSupport
import Testing

/// SQLite files that are synchronized, and SQLite's own program to look into them. They are in a folder, which is
/// removed with this object.
final class Replicas: Sendable {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bodega-sync-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The items of a collection, each as its key, a tab, the number of its kind, a tab and its bytes as hexadecimal
    /// digits, ordered by key, as SQLite's program reads them; `nil` if there is no such collection.
    func items(_ file: String, _ collection: String = "notes") async throws -> [String]? {
        let id = try await sqlite3(file, "SELECT id FROM emporium_collections WHERE name = '\(collection)'")
        guard let id = id.first else { return nil }
        return try await sqlite3(
            file, "SELECT key || char(9) || kind || char(9) || hex(value) FROM emporium_collection_\(id) ORDER BY 1")
    }

    /// The names of the collections of a file.
    func collections(_ file: String) async throws -> [String] {
        try await sqlite3(file, "SELECT name FROM emporium_collections ORDER BY 1")
    }

    func sqlite3(_ file: String, _ sql: String) async throws -> [String] {
        try await Self.output(["sqlite3", path(file), sql])
    }

    /// The lines that another program prints.
    static func output(_ command: [String], input: Data = Data()) async throws -> [String] {
        let (process, output, source) = (Process(), Pipe.separate(), Pipe.separate())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        (process.standardOutput, process.standardInput) = (output, source)
        try process.start()
        // Less than what a pipe holds.
        try source.fileHandleForWriting.write(contentsOf: input)
        try source.fileHandleForWriting.close()
        let text = String(decoding: await process.output(output), as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(command)")
        return text.split(separator: "\n").map(String.init)
    }

    /// Writes an item with the tool.
    func put(_ json: String, _ key: String, in file: String, _ collection: String = "notes") async {
        let result = await bodega("put", path(file), key, "--collection", collection, input: Array(json.utf8))
        #expect(result.status == 0, "\(result)")
    }

    /// Synchronizes with the tool, and expects success.
    @discardableResult
    func sync(_ local: String, _ remote: String, _ arguments: String...) async -> String {
        let result = await bodega(arguments: ["sync", path(local), path(remote)] + arguments)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        return result.text
    }
}

/// The line of ``Replicas/items(_:_:)`` for an item under a hashed key.
func row(_ key: String, _ text: String) -> String {
    "\(key)\t0\t\(text.utf8.map { String(format: "%02X", $0) }.joined())"
}
#endif
