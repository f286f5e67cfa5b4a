import Foundation

/// The drafts of a file, which are beside it under hidden names.
///
/// 1. A process that writes a draft holds its exclusive `flock`.
/// 2. A process that begins a draft of the same file removes those whose lock is free: their processes have ended.
/// 3. It may get the lock of a new draft before the process that has just created it. That one finds its draft gone,
///    and creates another one.
///
/// On volumes without locks, drafts stay.
struct OutputDrafts {
    private let folder: URL
    private let prefix: String
    private static let suffix = ".bodega-draft"

    init(of file: URL) {
        folder = file.deletingLastPathComponent()
        // A name has at most 255 bytes.
        var name = file.lastPathComponent
        while name.utf8.count > 150 { name.removeLast() }
        prefix = ".\(name)."
    }

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - permissions: Its permissions, before the process's umask is applied.
    ///   - check: Checks the result of `open`.
    /// - Returns: Its path and its descriptor, which the caller closes.
    func create(permissions: mode_t, _ check: (Int32) throws -> Int32) throws -> (path: String, descriptor: Int32) {
        while true {
            let path = folder.appendingPathComponent(prefix + UUID().uuidString + Self.suffix).path
            let descriptor = try check(systemCreate(path, permissions: permissions))
            if systemLock(descriptor) || errno != EWOULDBLOCK, isFile(path, descriptor) { return (path, descriptor) }
            close(descriptor)
        }
    }

    /// Removes the drafts whose processes have ended.
    func removeAbandoned() {
        // What else is wrong with the folder is reported when the draft is created.
        for name in systemNames(inFolder: Array(folder.path.utf8)) ?? [] {
            guard let name = String(validating: name, as: UTF8.self), isDraft(name) else { continue }
            let path = folder.appendingPathComponent(name).path
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            if descriptor < 0 { continue }
            if systemLock(descriptor), isFile(path, descriptor) { unlink(path) }
            close(descriptor)
        }
    }

    private func isDraft(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(Self.suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(Self.suffix.count))) != nil
    }

    /// Whether a path still is that of an open regular file, not of a link to it.
    private func isFile(_ path: String, _ descriptor: Int32) -> Bool {
        guard let opened = FileStatus(descriptor: descriptor),
            let named = FileStatus(path: Array(path.utf8), followingLinks: false)
        else { return false }
        return named.isRegular && named.identity == opened.identity
    }
}
