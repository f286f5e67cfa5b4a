import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CLinuxFileSystem
import Glibc
#elseif canImport(Musl)
import CLinuxFileSystem
import Musl
#endif

/// Changes many files all or nothing, with a redo log.
///
/// The next states of the files and a list of what is to be done are written into a folder, `staging`. Renaming it to
/// `commit` is the moment that counts: before it nothing has happened, after it the list will be carried out, by whoever
/// takes the writers' lock next if the process is gone. As each entry says what a file becomes, and not how it changes,
/// carrying the list out again changes nothing. In the end the folder is renamed to `done`, so that a `commit` always has
/// its list, and removed.
enum DiskBatch {
    private static let staging = "staging"
    private static let committed = "commit"
    private static let done = "done"
    private static let list = "list"

    /// From how many files on it is faster to sync the whole volume once than each of them.
    private static let volumeSyncThreshold = 16

    /// Whether a batch has been committed and not carried out to its end.
    static func isCommitted(in folder: Int32) -> Bool {
        faccessat(folder, DiskName.controlFolder + "/" + committed, F_OK, 0) == 0
    }

    /// Commits a plan and carries it out.
    static func commit(_ plan: DiskPlan, in owner: DiskFolder, _ folder: Int32, _ control: Int32) throws {
        try removeLeftovers(in: owner, control)
        do {
            try stage(plan, in: owner, folder, control)
            // Readers of several items see all of it or nothing.
            try FileSystem.check(owner.path, "locked") { flock(folder, LOCK_EX) }
            try FileSystem.check(owner.controlPath, "written") { renameat(control, staging, control, committed) }
        } catch {
            do {
                try removeLeftovers(in: owner, control)
            } catch let cleanUpError {
                throw StorageError(
                    .inputOutput, "A batch failed, and so did removing its files: \(cleanUpError)",
                    file: URL(fileURLWithPath: owner.controlPath), cause: error)
            }
            throw error
        }
        try owner.synchronize(control, owner.controlPath)
        try carryOut(in: owner, folder, control)
    }

    /// Carries out a batch that has been committed.
    static func carryOut(in owner: DiskFolder, _ folder: Int32, _ control: Int32) throws {
        try FileSystem.check(owner.path, "locked") { flock(folder, LOCK_EX) }
        let path = owner.controlPath + "/" + committed
        let steps = try Steps(contentsOfFile: path + "/" + list)
        let mayHaveSidecars = DiskSidecar.mayExist(in: folder)
        for (index, step) in steps.list.enumerated() {
            let staged = DiskName.controlFolder + "/\(committed)/\(index)"
            switch step {
            case .write(let name, let hasSidecar):
                if hasSidecar {
                    try DiskSidecar.publish(staged + ".key", in: folder, as: name, owner)
                }
                if renameat(folder, staged, folder, name) != 0, errno != ENOENT {
                    throw StorageError.system(errno, owner.path + "/" + name, "written")
                }
            case .remove(let name):
                if unlinkat(folder, name, 0) != 0, errno != ENOENT {
                    throw StorageError.system(errno, owner.path + "/" + name, "removed")
                }
                if mayHaveSidecars { DiskSidecar.remove(name, in: folder) }
            }
        }
        try owner.synchronize(folder, owner.path)
        try remove(done, in: owner, control)
        try FileSystem.check(path, "renamed") { renameat(control, committed, control, done) }
        try owner.synchronize(control, owner.controlPath)
        try remove(done, in: owner, control)
    }

    /// Removes what batches have left that were not committed or are done.
    static func removeLeftovers(in owner: DiskFolder, _ control: Int32) throws {
        try remove(staging, in: owner, control)
        try remove(done, in: owner, control)
    }

    private static func stage(_ plan: DiskPlan, in owner: DiskFolder, _ folder: Int32, _ control: Int32) throws {
        let path = owner.controlPath + "/" + staging
        try FileSystem.check(path, "created") { mkdirat(control, staging, 0o700) }
        let directory = try FileSystem.check(path, "opened") {
            openat(control, staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { close(directory) }
        let syncsVolume = canSyncVolume && owner.durability == .full && plan.writes >= volumeSyncThreshold
        var steps = Steps()
        for (name, action) in plan.actions {
            switch action {
            case .write(let record, let content):
                let staged = "\(steps.list.count)"
                let isComplete = try owner.stage(
                    record, content, as: staged, in: directory, folder, synchronized: !syncsVolume)
                steps.list.append(.write(name, hasSidecar: !isComplete))
            case .remove:
                steps.list.append(.remove(name))
            }
        }
        _ = try owner.create(list, in: directory, steps.bytes, !syncsVolume)
        if syncsVolume { try syncVolume(directory, path) }
        try owner.synchronize(directory, path)
    }

    /// Removes one of our folders and the files in it, if it is there.
    private static func remove(_ name: String, in owner: DiskFolder, _ control: Int32) throws {
        let path = owner.controlPath + "/" + name
        if faccessat(control, name, F_OK, 0) != 0 { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw StorageError(
                .inputOutput, "A folder of files that are not needed any more could not be removed.",
                file: URL(fileURLWithPath: path), cause: error)
        }
    }

    #if canImport(Darwin)
    private static let canSyncVolume = false
    private static func syncVolume(_ descriptor: Int32, _ path: String) throws {}
    #else
    private static let canSyncVolume = true
    private static func syncVolume(_ descriptor: Int32, _ path: String) throws {
        try FileSystem.check(path, "made durable") { emporium_syncfs(descriptor) }
    }
    #endif
}
