import Bodega
import Foundation

/// A file that replaces an existing one atomically when it is complete.
///
/// It gets the permissions of the file that it replaces. Until it is complete, only its owner may read it. An existing
/// device or pipe is written to directly. What a process that was killed has left of the same file is removed.
final class OutputFile: ByteSink {
    private let path: String
    /// The path of the temporary file, `nil` if the bytes are written directly to their destination.
    private let draft: String?
    /// The permissions of the file to replace, `nil` if there is none.
    private let permissions: mode_t?
    /// The owner and the group of the file to replace, if the new file needs them.
    private let owner: (uid_t, gid_t)?
    let descriptor: Int32
    private let sink: DescriptorSink

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. If it is a symbolic link, the file that it names is replaced.
    ///   - keepsOwner: Whether the file must have the owner of the file that it replaces.
    /// - Throws: A ``ToolError`` if it can't be written there.
    init(path: String, keepsOwner: Bool = false) throws {
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let status = FileStatus(path: Array(url.path.utf8), followingLinks: true)
        if status == nil, errno != ENOENT {
            throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).")
        }
        if let status, status.isFolder { throw ToolError(.failure, "\(path) is a folder. Name a file.") }
        self.permissions = status?.permissions
        self.owner = keepsOwner ? status.map { ($0.owner, $0.group) } : nil
        if let status, !status.isRegular {
            self.draft = nil
            self.descriptor = try Self.opened(open(url.path, O_WRONLY | O_CLOEXEC), path)
        } else {
            let drafts = OutputDrafts(of: url)
            drafts.removeAbandoned()
            (self.draft, self.descriptor) = try drafts.create(permissions: status == nil ? 0o666 : 0o600) {
                try Self.opened($0, path)
            }
        }
        self.path = url.path
        self.sink = DescriptorSink(descriptor: descriptor, name: path)
    }

    /// Checks the result of a call to `open`. Call it immediately, before another call changes `errno`.
    private static func opened(_ descriptor: Int32, _ path: String) throws -> Int32 {
        guard descriptor >= 0 else { throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).") }
        return descriptor
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws { try sink.write(bytes) }

    /// Moves the complete file into place.
    ///
    /// - Throws: A ``ToolError`` or a `StorageError` if that fails; the previous file then stays.
    func commit() throws {
        guard let draft else { return }
        // Every owner may keep the file; its group may be one to which only the administrator can give a file.
        if let (user, group) = owner, fchown(descriptor, user, group) != 0, user != geteuid() {
            throw ToolError(
                .failure,
                """
                \(path) can't be replaced by a file with the same owner: \(lastErrorText). Run the command as the owner.
                """)
        }
        if let permissions, fchmod(descriptor, permissions) != 0 {
            throw ToolError(
                .failure, "\(path) can't get the permissions of the file that it replaces: \(lastErrorText).")
        }
        try FileSystem.synchronize(descriptor, path)
        guard rename(draft, path) == 0 else {
            throw ToolError(.failure, "\(path) can't be written: \(lastErrorText).")
        }
    }

    deinit {
        close(descriptor)
        // After a commit no file has this name.
        if let draft { unlink(draft) }
    }
}
