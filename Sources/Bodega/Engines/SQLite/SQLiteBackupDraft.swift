import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The incomplete copy of a backup, under a name of its own in the folder of the backup.
///
/// A backup holds the shared `flock` on the folder as long as it has a draft. If the exclusive one is free, no backup
/// into the folder is running, so that each draft in it was left by a process that has ended. On volumes without locks
/// of folders, drafts stay.
final class SQLiteBackupDraft: Sendable {
    /// Where the copy is made.
    let url: URL
    /// The folder, open; `nil` after the end.
    private let folder: Locked<Int32?>

    private static let prefix = ".emporium-backup-"

    /// Removes drafts of interrupted backups from a folder, and chooses the name of a new one.
    ///
    /// - Parameter folder: The folder, which exists.
    init(in folder: URL) throws {
        url = folder.appendingPathComponent(Self.prefix + UUID().uuidString)
        try Self.removeStale(in: folder)
        let descriptor = try FileSystem.check(folder.path, "opened") {
            open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        self.folder = Locked(descriptor)
        try LockHolders.shared.add(descriptor)
        // A process that removes drafts holds its lock only briefly. Without the lock, the backup is as safe as ever.
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }

    deinit { end() }

    /// Removes the copy, unless it was published, and releases the lock. Further calls have no effect.
    func end() {
        let descriptor = folder.withLock { folder in
            defer { folder = nil }
            return folder
        }
        guard let descriptor else { return }
        // SQLite leaves a journal if the volume is full.
        for suffix in ["", "-journal", "-wal", "-shm"] { FileSystem.discard(URL(fileURLWithPath: url.path + suffix)) }
        FileSystem.closeLocked(descriptor)
    }

    /// The drafts in a folder that interrupted backups have left. Empty while a backup into the folder is running.
    static func stale(in folder: URL) throws -> [URL] {
        try withIdle(folder) { $0 }
    }

    /// Removes the drafts in a folder that interrupted backups have left.
    ///
    /// - Returns: The number of files.
    @discardableResult
    static func removeStale(in folder: URL) throws -> Int {
        try withIdle(folder) { drafts in
            for draft in drafts { FileSystem.discard(draft) }
            return drafts
        }.count
    }

    private static func withIdle(_ folder: URL, _ body: ([URL]) throws -> [URL]) throws -> [URL] {
        let path = folder.path
        let descriptor = try FileSystem.check(path, "opened") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { FileSystem.closeLocked(descriptor) }
        let names = try FileSystem.files(in: descriptor, path).filter { $0.hasPrefix(prefix) }.sorted()
        if names.isEmpty || !FileSystem.tryLock(descriptor, LOCK_EX) { return [] }
        return try body(names.map { folder.appendingPathComponent($0) })
    }
}
