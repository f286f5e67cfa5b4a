import Bodega
import Foundation

/// A file with a keyset, in the JSON of Tink, that only its owner can read.
struct KeysetFile: Sendable {
    /// The largest file that is read.
    private static let maximumSize = 1 << 20

    let path: String

    /// Reads the keyset. Instead of a file, it can be a pipe.
    ///
    /// - Throws: A ``ToolError`` if it can't be read, is no keyset, or if other users can read or write the file.
    func read() throws -> EncryptionKeyset {
        let file = SecretFile(path: path, maximumSize: Self.maximumSize, kind: "keyset", gives: "all items")
        return try Self.keyset(try file.read(), from: path)
    }

    /// Reads a keyset.
    ///
    /// - Parameter source: Where it comes from, for errors.
    static func keyset(_ json: Data, from source: String) throws -> EncryptionKeyset {
        do {
            return try EncryptionKeyset(json: json)
        } catch let error as StorageError {
            throw ToolError(.failure, "\(source): \(error.message) Create a keyset with: bodega keyset create FILE")
        }
    }

    /// Creates the file. An existing one is not replaced.
    ///
    /// - Throws: A ``ToolError`` if the file exists or can't be written.
    func create(_ keyset: EncryptionKeyset) throws {
        let descriptor = systemCreate(path, permissions: 0o600)
        guard descriptor >= 0 else {
            let advice =
                errno == EEXIST
                ? " A keyset is never overwritten. Name another file."
                : errno == ENOENT ? " Create its folder first." : ""
            throw ToolError(.failure, "\(path) can't be created: \(lastErrorText).\(advice)")
        }
        defer { close(descriptor) }
        do {
            let sink = DescriptorSink(descriptor: descriptor, name: path)
            try (keyset.json() + Data("\n".utf8)).withUnsafeBytes(sink.write)
            try FileSystem.synchronize(descriptor, path)
            try FileSystem.synchronizeDirectory(Self.folder(of: path))
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Replaces the file, so that it is either the old or the new keyset at any moment, also after a power failure.
    ///
    /// - Parameter prepare: Called with the descriptor of the new file before it gets its name.
    func replace(with keyset: EncryptionKeyset, prepare: (Int32) throws -> Void = { _ in }) throws {
        let file = try OutputFile(path: path, keepsOwner: true)
        try prepare(file.descriptor)
        try (keyset.json() + Data("\n".utf8)).withUnsafeBytes(file.write)
        try file.commit()
        try FileSystem.synchronizeDirectory(Self.folder(of: path))
    }

    private static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().deletingLastPathComponent().path
    }
}
