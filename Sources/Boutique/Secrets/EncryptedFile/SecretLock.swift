import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The lock of a folder, between threads and between processes.
///
/// The part between processes is an `flock`, which ends with its process. A thread that holds the lock may take it again,
/// by whatever name it has found the folder.
final class SecretLock: @unchecked Sendable {
    // @unchecked because `descriptor` is only used by the thread that holds `turn`.
    private let turn = TurnLock()
    private var descriptor: Int32?

    private static let locks = Locked<[SecretFolder.Identity: SecretLock]>([:])

    /// The one lock that this process has for a folder.
    static func of(_ folder: SecretFolder.Identity) -> SecretLock {
        locks.withLock { locks in
            if let lock = locks[folder] { return lock }
            let lock = SecretLock()
            locks[folder] = lock
            return lock
        }
    }

    /// Runs a closure while no other thread and no other process does.
    ///
    /// - Throws: `StorageError.Code.locked` after the deadline; what the closure throws.
    func withLock<Result>(
        in folder: SecretFolder, _ deadline: LockDeadline, _ body: () throws -> Result
    ) throws -> Result {
        let path = folder.path + "/lock"
        return try turn.withLock(deadline, path) { try withFileLock(in: folder, path, deadline, body) }
    }

    private func withFileLock<Result>(
        in folder: SecretFolder, _ path: String, _ deadline: LockDeadline, _ body: () throws -> Result
    ) throws -> Result {
        // This thread holds it already. A second descriptor would wait for the first one.
        if descriptor != nil { return try body() }
        // A file and not the folder, because network volumes lock nothing exclusively that is not open for writing.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let opened = try FileSystem.check(path, "opened") { openat(folder.descriptor, "lock", flags, 0o600) }
        descriptor = opened
        defer {
            FileSystem.closeLocked(opened)
            descriptor = nil
        }
        try deadline.lock(opened, LOCK_EX, path)
        return try body()
    }
}
