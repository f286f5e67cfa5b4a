import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that appears under its name when it is complete, in place of what was there before.
///
/// Who may read the file that was there may read the new one, and nobody else may read it before it is complete. A
/// device or pipe that is there already is written to as it is.
package final class OutputFile: ByteSink {
    private let path: String
    /// Where the bytes go until the file is complete, `nil` if they go to their destination at once.
    private let draft: String?
    /// The permissions of the file that is to be replaced, `nil` if there is none.
    private let permissions: mode_t?
    private let descriptor: Int32
    private let sink: DescriptorSink

    /// Begins a file.
    ///
    /// - Parameter path: Where the file is to be. A symbolic link there stays; the file that it names is replaced.
    /// - Throws: A ``ToolError`` if it can't be written there.
    package init(path: String) throws {
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let status = FileStatus(path: Array(url.path.utf8), followingLinks: true)
        if status == nil, !lastErrorIsAbsence {
            throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).")
        }
        if let status, status.isFolder { throw ToolError(.failure, "\(path) is a folder.") }
        self.permissions = status?.permissions
        if let status, !status.isRegular {
            self.draft = nil
            self.descriptor = try Self.opened(systemOpenExisting(url.path), path)
        } else {
            let name = ".\(url.lastPathComponent.prefix(64)).\(UUID().uuidString)"
            let draft = url.deletingLastPathComponent().appendingPathComponent(name).path
            self.draft = draft
            self.descriptor = try Self.opened(systemCreate(draft, permissions: status == nil ? 0o666 : 0o600), path)
        }
        self.path = url.path
        self.sink = DescriptorSink(descriptor: descriptor, name: path)
    }

    /// Checks what a call to open returned; called at once, before other calls change what the system says about it.
    private static func opened(_ descriptor: Int32, _ path: String) throws -> Int32 {
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).") }
        return descriptor
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        try sink.write(bytes)
    }

    /// Puts the complete file into place.
    ///
    /// - Throws: A ``ToolError`` or a `StorageError` if that fails; what was there before is then still there.
    package func commit() throws {
        guard let draft else { return }
        if let permissions, !systemSetPermissions(descriptor, permissions) {
            throw ToolError(.failure, "\(path) can't get the permissions of the file before it: \(lastErrorText).")
        }
        try FileSystem.synchronize(descriptor, path)
        guard systemRename(draft, path) else {
            throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).")
        }
    }

    deinit {
        systemClose(descriptor)
        // After a commit there is nothing of that name any more.
        if let draft { systemRemove(draft) }
    }
}
