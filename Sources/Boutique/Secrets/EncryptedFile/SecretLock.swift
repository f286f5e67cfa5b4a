import Bodega
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The lock of a folder for writers, between threads and between processes.
///
/// 1. A thread takes `turn`, which excludes the other threads of this process.
/// 2. It opens the file `lock` of the folder and takes its `flock`, which excludes other processes. The system releases
///    it when the process ends.
/// 3. It writes. If it takes the lock again, under any path of the folder, the closure runs immediately.
/// 4. It closes the file, which releases the `flock`, then `turn`.
///
/// Both waits have one deadline. `turn` guards `descriptor`; `locks` guards itself.
final class SecretLock: @unchecked Sendable {
    // @unchecked because `descriptor` is only used by the thread that holds `turn`.
    private let turn = TurnLock()
    private var descriptor: Int32?

    private static let locks = Locked<[SecretFolder.Identity: SecretLock]>([:])

    /// The lock of a folder, the same for each call in this process.
    static func of(_ folder: SecretFolder.Identity) -> SecretLock {
        locks.withLock { locks in
            if let lock = locks[folder] { return lock }
            let lock = SecretLock()
            locks[folder] = lock
            return lock
        }
    }

    /// Runs a closure while no other thread or process does.
    ///
    /// - Throws: `StorageError.Code.locked` after the deadline; errors of the closure.
    func withLock<Result>(
        in folder: SecretFolder, _ deadline: LockDeadline, _ body: () throws -> Result
    ) throws -> Result {
        let path = folder.path + "/lock"
        return try turn.withLock(deadline, path) { try withFileLock(in: folder, path, deadline, body) }
    }

    private func withFileLock<Result>(
        in folder: SecretFolder, _ path: String, _ deadline: LockDeadline, _ body: () throws -> Result
    ) throws -> Result {
        // This thread holds the lock already. A second descriptor would wait for the first one.
        if descriptor != nil { return try body() }
        // Not the folder itself: network volumes grant an exclusive lock only on a file that is open for writing.
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
