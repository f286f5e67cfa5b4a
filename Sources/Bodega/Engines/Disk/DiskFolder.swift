import Dispatch
package import Foundation
import Logging

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
/// Every wait for a lock has a limit, and ends in an error.
package final class DiskFolder: Sendable {

    /// Where the folder is.
    package let url: URL

    let durability: StorageDurability
    private let isReadOnly: Bool
    private let ignoresCase: Bool?
    let records = DiskRecordCache()
    let clock: @Sendable () -> Int64
    let lockTimeout: LockTimeout
    /// When an operation last gave up waiting for a lock, by the clock of `lockTimeout`.
    let lastTimeout = Locked(Duration.zero)
    private let lastOrder = Locked<Int64>(0)
    private let turn = TurnLock()

    /// Names a folder without touching it.
    ///
    /// - Parameters:
    ///   - url: Where the folder is.
    ///   - durability: What a finished write has survived.
    ///   - isReadOnly: Whether nothing is ever changed, not even to clean up.
    ///   - ignoresCase: Whether the volume takes names for one that differ in case only; `nil` to find out.
    ///   - clock: Tells the time in nanoseconds since 1970, for the order of the items.
    ///   - lockTimeout: How long an operation waits for a lock that another thread or process holds.
    package init(
        url: URL,
        durability: StorageDurability,
        isReadOnly: Bool = false,
        ignoresCase: Bool? = nil,
        clock: @escaping @Sendable () -> Int64 = { DiskFolder.nanoseconds() },
        lockTimeout: LockTimeout = .standard
    ) {
        self.clock = clock
        self.lockTimeout = lockTimeout
        self.url = url
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.ignoresCase = ignoresCase
    }

    var path: String { url.path }
    var controlPath: String { path + "/" + DiskName.controlFolder }
    var keysPath: String { controlPath + "/keys" }

    deinit {
        if !isReadOnly { removeControlFolderIfIdle() }
    }

    /// Whether the folder is there.
    package func exists() throws -> Bool {
        var status = stat()
        if stat(path, &status) == 0 { return true }
        if errno == ENOENT { return false }
        throw StorageError.system(errno, path, "examined")
    }

    /// Opens the folder for the time of a closure, without a lock.
    func withFolder<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let folder = try FileSystem.check(path, "opened") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        return try body(folder)
    }

    /// Opens the folder for reading one item.
    ///
    /// It looks without a lock first. A batch can move an item to another name just then, so what is not found is
    /// looked for once more while no batch is carried out.
    func readingOne<Result>(_ body: (Int32) throws -> Result?) throws -> Result? {
        let result = try withFolder { folder -> Result? in
            // A file and its sidecar are read one after the other, so they need the lock in any case.
            if try DiskBatch.isCommitted(in: folder, self) || DiskSidecar.mayExist(in: folder, self) { return nil }
            return try body(folder)
        }
        return try result ?? readingMany(body)
    }

    /// Opens the folder for reading several items: no batch is carried out meanwhile.
    func readingMany<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let deadline = deadline()
        while true {
            let result = try withFolder { folder -> Result? in
                try deadline.lock(folder, LOCK_SH, path)
                // Closing alone leaves it with child processes that were forked in the meantime.
                defer { flock(folder, LOCK_UN) }
                return try DiskBatch.isCommitted(in: folder, self) ? nil : body(folder)
            }
            if let result { return result }
            // A batch waits for its readers to end, so this one waits behind it, for the writers' lock. If whoever
            // committed the batch is gone, taking that lock finishes it.
            if isReadOnly { try awaitBatch(deadline) } else { try writing(deadline) { _, _ in } }
        }
    }

    /// Opens the folder for writing, after what a crash left was finished or cleaned.
    ///
    /// - Parameters:
    ///   - deadline: Until when to wait for other writers; `nil` if the operation begins now.
    ///   - body: Gets the folder, and the folder for our own purposes.
    func writing<Result>(
        _ deadline: LockDeadline? = nil,
        _ body: (_ folder: Int32, _ control: Int32) throws -> Result
    ) throws -> Result {
        if isReadOnly {
            throw StorageError(
                .readOnly, "The folder was opened for reading only. Open another engine on it to write.", file: url)
        }
        // Within the process writers take turns here, so that at most one thread waits for the file lock.
        let deadline = deadline ?? self.deadline()
        return try turn.withLock(deadline, path) {
            try FileSystem.createDirectory(at: url)
            return try withFolder { folder in
                let control = try lockControlFolder(folder, deadline)
                defer { FileSystem.closeLocked(control) }
                if try DiskBatch.isCommitted(in: folder, self) { try finishBatch(folder, control, deadline) }
                return try body(folder, control)
            }
        }
    }

    /// Waits for a batch that is being carried out, without carrying it out.
    private func awaitBatch(_ deadline: LockDeadline) throws {
        try withFolder { folder in
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            guard let control = try FileSystem.openIfPresent(DiskName.controlFolder, in: folder, flags, controlPath)
            else { return }
            defer { FileSystem.closeLocked(control) }
            try deadline.lock(control, LOCK_SH, controlPath)
            // Somebody may have removed it meanwhile, and others have made another.
            guard try isSame(control, as: DiskName.controlFolder, in: folder) else { return }
            if try DiskBatch.isCommitted(in: folder, self) {
                throw StorageError(
                    .cannotOpen,
                    "A program was stopped in the midst of a batch. Open the folder for writing to finish that, then read.",
                    file: url
                )
            }
        }
    }

    /// Finishes a batch whose process is gone. If it cannot be carried out it is undone: nobody was told that it was
    /// done.
    private func finishBatch(_ folder: Int32, _ control: Int32, _ deadline: LockDeadline) throws {
        do {
            try DiskBatch.finish(in: self, folder, control, deadline)
        } catch let error as StorageError where error.code == .locked {
            // The batch was undone, but the operation's time is over, and the folder must not be locked again.
            throw error
        } catch {
            if try DiskBatch.isCommitted(in: folder, self) { throw error }
            bodegaLogger.warning("A batch that a crash interrupted was undone.", metadata: ["error": "\(error)"])
        }
    }

    /// Opens and locks the folder for our own purposes; creates it if it is missing.
    private func lockControlFolder(_ folder: Int32, _ deadline: LockDeadline) throws -> Int32 {
        while true {
            if mkdirat(folder, DiskName.controlFolder, 0o700) != 0, errno != EEXIST {
                throw StorageError.system(errno, controlPath, "created")
            }
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            guard
                let control = try FileSystem.openIfPresent(
                    DiskName.controlFolder, in: folder, flags, controlPath, absent: [ENOENT])
            else { continue }
            do {
                try deadline.lock(control, LOCK_EX, controlPath)
                if try isSame(control, as: DiskName.controlFolder, in: folder) { return control }
                // Its last user removed it while this one waited for the lock.
                FileSystem.closeLocked(control)
            } catch {
                FileSystem.closeLocked(control)
                throw error
            }
        }
    }

    /// Removes the folder for our own purposes if it is empty and nobody writes. A writer that waits for its lock finds
    /// out and makes a new one.
    func removeControlFolderIfIdle() {
        do {
            try withFolder { folder in
                let flags = O_RDONLY | O_DIRECTORY
                guard let control = try FileSystem.openIfPresent(DiskName.controlFolder, in: folder, flags, controlPath)
                else {
                    return
                }
                defer { FileSystem.closeLocked(control) }
                guard flock(control, LOCK_EX | LOCK_NB) == 0,
                    try isSame(control, as: DiskName.controlFolder, in: folder)
                else { return }
                // Fails if there is something in it, which is then needed.
                unlinkat(folder, DiskName.controlFolder, AT_REMOVEDIR)
            }
        } catch {
            bodegaLogger.debug("An empty folder stays.", metadata: ["folder": "\(controlPath)", "error": "\(error)"])
        }
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

    /// Makes the entries of a folder survive a power failure, if that was asked for.
    ///
    /// The contents of files are made durable in any case before they get their names: otherwise a power failure could
    /// leave an item's name on half of its bytes.
    func synchronizeEntries(_ descriptor: Int32, _ path: @autoclosure () -> String) throws {
        if durability == .full { try FileSystem.synchronize(descriptor, path()) }
    }

    /// Whether the volume takes names for one that differ in case only.
    ///
    /// - Parameter folder: The folder, open, with the folder for our own purposes in it.
    func ignoresCase(in folder: Int32) throws -> Bool {
        try ignoresCase ?? FileSystem.exists(DiskName.controlFolder.uppercased(), in: folder, controlPath)
    }

    /// Reads from the folder which order number was given last, by whichever process.
    func readOrder(_ folder: Int32) {
        let written = DiskAttribute.lastOrder(of: folder)
        // No clock has been there yet: somebody else wrote that.
        if written > Int64.max / 2 { return }
        lastOrder.withLock { last in last = max(last, written) }
    }

    /// Writes into the folder which order number was given last, so that a clock that is set back does not put new
    /// items before old ones. Volumes without attributes go by the clock alone.
    func writeOrder(_ folder: Int32) {
        DiskAttribute.setLastOrder(lastOrder.withLock { $0 }, of: folder)
    }

    /// A number larger than those that were given before.
    func nextOrder() -> Int64 {
        lastOrder.withLock { last in
            last = max(last + 1, clock())
            return last
        }
    }

    /// The time in nanoseconds since 1970.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time.nanoseconds
    }
}
