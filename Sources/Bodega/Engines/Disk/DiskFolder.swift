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

/// A folder with one file per item: the synchronous core of ``DiskStorageEngine``.
///
///     Quotes/                       the folder
///       BA0B2A0E-…                  an item, named by ``DiskName``, with its ``DiskRecord`` in an attribute
///       .emporium/                  the control folder, which exists during a write
///         item                      the next state of an item that is being written alone
///         staging/, commit/, done/  a batch before its commit, while it is carried out, and after; see ``DiskBatch``
///         keys/                     records that no attribute could hold, named like their items
///
/// Locks are `flock`s, which work between processes and end with their process:
///
/// 1. A writer takes its turn among the writers of this core (`turn`), then the exclusive lock on `.emporium`.
/// 2. It finishes a batch that a crash interrupted, and plans its changes.
/// 3. For a batch, it takes the exclusive lock on the folder; see ``DiskBatch``. A single file needs no such lock.
/// 4. It unlocks in reverse order. When released, a core removes `.emporium` if it is empty and no process writes.
///
/// A reader of several items takes the shared lock on the folder, so that it excludes 3. If it finds a committed batch,
/// it waits for 1. A reader of one item reads without a lock, and again with one if it finds no item.
///
/// Every wait for a lock has a limit and ends in an error. `lastOrder`, `lastTimeout` and the cache in `records` are
/// guarded by their own locks.
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

    /// Creates a core without touching the folder.
    ///
    /// - Parameters:
    ///   - url: Where the folder is.
    ///   - durability: The failures that a finished write survives.
    ///   - isReadOnly: Whether nothing is ever changed, not even to clean up.
    ///   - ignoresCase: Whether the volume treats names that differ only in case as equal; `nil` to find out.
    ///   - clock: Returns the time in nanoseconds since 1970, for the order of the items.
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
        self.url = url.fixed
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

    /// Whether the folder exists.
    package func exists() throws -> Bool {
        try FileSystem.exists(atPath: path)
    }

    /// Opens the folder for the duration of a closure, without a lock.
    func withFolder<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let folder = try FileSystem.check(path, "opened") { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(folder) }
        return try body(folder)
    }

    /// Opens the folder for reading one item.
    ///
    /// The first attempt takes no lock. A batch may rename an item's file at the same moment, so an item that is not
    /// found is looked up again while no batch is carried out.
    func readingOne<Result>(_ body: (Int32) throws -> Result?) throws -> Result? {
        let result = try withFolder { folder -> Result? in
            // A file and its sidecar are read one after the other, so they need the lock in any case.
            if try DiskBatch.isCommitted(in: folder, self) || DiskSidecar.mayExist(in: folder, self) { return nil }
            return try body(folder)
        }
        return try result ?? readingMany(body)
    }

    /// Opens the folder for reading several items, while no batch is carried out.
    func readingMany<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let deadline = deadline()
        while true {
            let result = try withFolder { folder -> Result? in
                try deadline.lock(folder, LOCK_SH, path)
                // Closing alone leaves the lock with child processes that were forked in the meantime.
                defer { FileSystem.unlock(folder) }
                return try DiskBatch.isCommitted(in: folder, self) ? nil : body(folder)
            }
            if let result { return result }
            // The batch waits for earlier readers to end. This reader waits for the batch, with the writers' lock. If
            // the process that committed the batch has ended, taking that lock finishes the batch.
            if isReadOnly { try awaitBatch(deadline) } else { try writing(deadline) { _, _ in } }
        }
    }

    /// Opens the folder for writing, after finishing a batch that a crash interrupted.
    ///
    /// - Parameters:
    ///   - deadline: The deadline for waiting for other writers; `nil` if the operation begins now.
    ///   - body: Receives the folder and the control folder.
    func writing<Result>(
        _ deadline: LockDeadline? = nil,
        _ body: (_ folder: Int32, _ control: Int32) throws -> Result
    ) throws -> Result {
        if isReadOnly {
            throw StorageError(
                .readOnly, "The folder was opened for reading only. To write, open it with another engine.", file: url)
        }
        // The writers of this core take turns, so that at most one of their threads waits for the file lock.
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

    /// Waits until another process has carried out its batch.
    private func awaitBatch(_ deadline: LockDeadline) throws {
        try withFolder { folder in
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            guard let control = try FileSystem.openIfPresent(DiskName.controlFolder, in: folder, flags, controlPath)
            else { return }
            defer { FileSystem.closeLocked(control) }
            try deadline.lock(control, LOCK_SH, controlPath)
            // The control folder may have been removed and created again in the meantime.
            guard try isSame(control, as: DiskName.controlFolder, in: folder) else { return }
            if try DiskBatch.isCommitted(in: folder, self) {
                throw StorageError(
                    .cannotOpen,
                    "A batch was interrupted. Open the folder for writing once, which finishes the batch, then read.",
                    file: url
                )
            }
        }
    }

    /// Finishes a batch whose process has ended. If the batch cannot be carried out it is undone, because no caller has
    /// been informed of its success.
    private func finishBatch(_ folder: Int32, _ control: Int32, _ deadline: LockDeadline) throws {
        do {
            try DiskBatch.finish(in: self, folder, control, deadline)
        } catch let error as StorageError where error.code == .locked || error.code == .suspended {
            // The batch was undone, but the operation's time is up, and the descriptor must not be locked again.
            throw error
        } catch {
            if try DiskBatch.isCommitted(in: folder, self) { throw error }
            bodegaLogger.warning("A batch that a crash interrupted was undone.", metadata: ["error": "\(error)"])
        }
    }

    /// Opens and locks the control folder, creating it if it is missing.
    private func lockControlFolder(_ folder: Int32, _ deadline: LockDeadline) throws -> Int32 {
        while true {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            guard
                let control = try FileSystem.openIfPresent(
                    DiskName.controlFolder, in: folder, flags, controlPath, absent: [ENOENT])
            else {
                if mkdirat(folder, DiskName.controlFolder, 0o700) != 0, errno != EEXIST {
                    throw StorageError.system(errno, controlPath, "created")
                }
                continue
            }
            do {
                try deadline.lock(control, LOCK_EX, controlPath)
                if try isSame(control, as: DiskName.controlFolder, in: folder) { return control }
                // Another writer removed it while this one waited for the lock.
                FileSystem.closeLocked(control)
            } catch {
                FileSystem.closeLocked(control)
                throw error
            }
        }
    }

    /// Removes the control folder if it is empty and no process writes. A writer that waits for its lock notices the
    /// removal and creates it again.
    func removeControlFolderIfIdle() {
        do {
            try withFolder { folder in
                let flags = O_RDONLY | O_DIRECTORY
                guard let control = try FileSystem.openIfPresent(DiskName.controlFolder, in: folder, flags, controlPath)
                else {
                    return
                }
                defer { FileSystem.closeLocked(control) }
                guard FileSystem.tryLock(control, LOCK_EX),
                    try isSame(control, as: DiskName.controlFolder, in: folder)
                else { return }
                // Fails if the folder is not empty; its contents are then needed.
                unlinkat(folder, DiskName.controlFolder, AT_REMOVEDIR)
            }
        } catch {
            bodegaLogger.debug(
                "The control folder could not be removed.", metadata: ["folder": "\(controlPath)", "error": "\(error)"])
        }
    }

    /// Removes the folder if nothing is in it and no process writes. A writer that comes later creates it again.
    package func removeIfEmpty() throws {
        removeControlFolderIfIdle()
        if rmdir(path) != 0, ![ENOENT, ENOTEMPTY, EEXIST].contains(errno) {
            throw StorageError.system(errno, path, "removed")
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

    /// Makes the entries of a folder survive a power failure, if the durability is full.
    ///
    /// The contents of a file are always made durable before it gets its name. Otherwise a power failure could leave a
    /// named file with half of its bytes.
    func synchronizeEntries(_ descriptor: Int32, _ path: @autoclosure () -> String) throws {
        if durability == .full { try FileSystem.synchronize(descriptor, path()) }
    }

    /// Whether the volume treats names that differ only in case as equal.
    ///
    /// - Parameter folder: The folder, open, with the control folder in it.
    func ignoresCase(in folder: Int32) throws -> Bool {
        try ignoresCase ?? FileSystem.exists(DiskName.controlFolder.uppercased(), in: folder, controlPath)
    }

    /// The largest order number that is taken from a clock, of the year 2262. From there, items are only counted: there
    /// are numbers for a trillion more.
    private static let latestOrder = Int64.max - 1 << 40

    /// Reads from the folder the last order number that any process has assigned.
    func readOrder(_ folder: Int32) {
        let written = DiskAttribute.lastOrder(of: folder)
        // No clock with a count of items leads there, so another program has written it.
        if written > Int64.max - 1 << 39 { return }
        lastOrder.withLock { last in last = max(last, written) }
    }

    /// Stores the last assigned order number with the folder, so that new items come after old ones even if the clock
    /// is set back. On volumes without attributes, the order depends on the clock alone.
    func writeOrder(_ folder: Int32) {
        DiskAttribute.setLastOrder(lastOrder.withLock { $0 }, of: folder)
    }

    /// Assigns an order number, larger than all before it.
    func nextOrder() -> Int64 {
        lastOrder.withLock { last in
            last = max(last + 1, min(clock(), Self.latestOrder))
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
