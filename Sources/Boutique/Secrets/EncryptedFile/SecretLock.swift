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
/// The part between processes is an `flock`, which ends with its process. A thread that holds the lock may take it again.
final class SecretLock: @unchecked Sendable {
    // @unchecked because `descriptor` is only used by the thread that holds `turn`.
    private let turn = NSRecursiveLock()
    private var descriptor: Int32?

    private static let locks = Locked<[String: SecretLock]>([:])

    /// The one lock that this process has for a folder.
    static func of(_ path: String) -> SecretLock {
        locks.withLock { locks in
            if let lock = locks[path] { return lock }
            let lock = SecretLock()
            locks[path] = lock
            return lock
        }
    }

    /// Runs a closure while no other thread and no other process does.
    func withLock<Result>(in folder: SecretFolder, _ body: () throws -> Result) throws -> Result {
        turn.lock()
        defer { turn.unlock() }
        // This thread holds it already. A second descriptor would wait for the first one for ever.
        if descriptor != nil { return try body() }
        // A file and not the folder, because network volumes lock nothing exclusively that is not open for writing.
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let path = folder.path + "/lock"
        let opened = try FileSystem.check(path, "opened") { openat(folder.descriptor, "lock", flags, 0o600) }
        descriptor = opened
        defer {
            FileSystem.closeLocked(opened)
            descriptor = nil
        }
        try FileSystem.check(path, "locked") { flock(opened, LOCK_EX) }
        return try body()
    }
}
