import Dispatch
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A folder with one file an item: the synchronous core of ``DiskStorageEngine``.
///
///     Quotes/                       the folder
///       BA0B2A0E-…                  an item, named as ``DiskName`` says, with its ``DiskRecord`` in an attribute
///       .emporium/                  there while somebody writes
///         item                      the next state of an item that is being written alone
///         staging/, commit/, done/  a batch before it counts, while it is carried out, and after; see ``DiskBatch``
///         keys/                     records that no attribute could hold, named like their items
///
/// Locks are `flock`s, so they also work between processes and end with their process. Writers exclude one another by
/// one on `.emporium`. A batch being carried out and readers of several items exclude one another by one on the folder.
package final class DiskFolder: Sendable {

    /// Where the folder is.
    package let url: URL

    let durability: StorageDurability
    private let lastOrder = Locked<Int64>(0)
    private let turn = Locked<Void>(())

    /// Names a folder without touching it.
    package init(url: URL, durability: StorageDurability) {
        self.url = url
        self.durability = durability
    }

    var path: String { url.path }
    var controlPath: String { path + "/" + DiskName.controlFolder }
    var keysPath: String { controlPath + "/keys" }

    deinit {
        removeControlFolderIfIdle()
    }

    /// Opens the folder for the time of a closure, without a lock.
    func withFolder<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let folder = try FileSystem.check(path, "opened") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        return try body(folder)
    }

    /// Opens the folder for reading one item.
    func reading<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        try withFolder { folder in
            if !DiskBatch.isCommitted(in: folder) { return try body(folder) }
            return try readingMany(body)
        }
    }

    /// Opens the folder for reading several items: no batch is carried out meanwhile.
    func readingMany<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        while true {
            let result = try withFolder { folder -> Result? in
                try FileSystem.check(path, "locked") { flock(folder, LOCK_SH) }
                return DiskBatch.isCommitted(in: folder) ? nil : try body(folder)
            }
            if let result { return result }
            // Whoever committed that batch is gone. Taking the writers' lock finishes it.
            try writing { _, _ in }
        }
    }

    /// Opens the folder for writing, after what a crash left was finished or cleaned.
    ///
    /// - Parameter body: Gets the folder, and the folder for our own purposes.
    func writing<Result>(_ body: (_ folder: Int32, _ control: Int32) throws -> Result) throws -> Result {
        // Within the process writers take turns here, so that at most one thread waits for the file lock.
        try turn.withLock { _ in
            try FileSystem.createDirectory(at: url)
            return try withFolder { folder in
                let control = try lockControlFolder(folder)
                defer { close(control) }
                if DiskBatch.isCommitted(in: folder) { try DiskBatch.carryOut(in: self, folder, control) }
                return try body(folder, control)
            }
        }
    }

    /// Opens and locks the folder for our own purposes; creates it if it is missing.
    private func lockControlFolder(_ folder: Int32) throws -> Int32 {
        while true {
            if mkdirat(folder, DiskName.controlFolder, 0o700) != 0, errno != EEXIST {
                throw StorageError.system(errno, controlPath, "created")
            }
            let control = openat(folder, DiskName.controlFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if control < 0, errno == ENOENT { continue }
            try FileSystem.check(controlPath, "opened") { control }
            do {
                try FileSystem.check(controlPath, "locked") { flock(control, LOCK_EX) }
                if try isSame(control, as: DiskName.controlFolder, in: folder) { return control }
                // Its last user removed it while this one waited for the lock.
                close(control)
            } catch {
                close(control)
                throw error
            }
        }
    }

    /// Removes the folder for our own purposes if it is empty and nobody writes. A writer that waits for its lock finds
    /// out and makes a new one.
    func removeControlFolderIfIdle() {
        let control = open(controlPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if control < 0 { return }
        defer { close(control) }
        if flock(control, LOCK_EX | LOCK_NB) == 0 { rmdir(controlPath) }
    }

    private func isSame(_ descriptor: Int32, as name: String, in folder: Int32) throws -> Bool {
        var opened = stat()
        var named = stat()
        try FileSystem.check(controlPath, "examined") { fstat(descriptor, &opened) }
        if fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) != 0 {
            if errno == ENOENT { return false }
            throw StorageError.system(errno, controlPath, "examined")
        }
        return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
    }

    /// Makes what was written to a file, or the entries of a folder, survive a power failure, if that was asked for.
    func synchronize(_ descriptor: Int32, _ path: @autoclosure () -> String) throws {
        if durability == .full { try FileSystem.synchronize(descriptor, path()) }
    }

    /// A number larger than those that were given before, by this process and, as far as clocks agree, by others.
    func nextOrder() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return lastOrder.withLock { last in
            last = max(last + 1, now)
            return last
        }
    }
}
