import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import CLinuxFileSystem
import Glibc
#elseif canImport(Musl)
import CLinuxFileSystem
import Musl
#endif

/// An atomic change of many files, with a log that serves for redo and for undo.
///
/// 1. *Stage*: the next states of the files and the list of the steps are written into the folder `staging`.
/// 2. *Commit*: renaming `staging` to `commit` is the atomic step.
/// 3. *Carry out*: for each step, the current file moves into `commit` and its next state, if any, moves out of it.
/// 4. *End*: `commit` is renamed to `done`, which is then removed.
///
/// The lock of the writers, an `flock` on `.emporium`, is held during all steps. The lock of the readers, an `flock` on
/// the items' folder, is held exclusively from 3 until the renaming in 4, so that readers see all of a batch or none.
///
/// If the process ends between 2 and 4, the next process that takes the writers' lock continues with 3; the files that
/// are still in `commit` show which steps are left. If a step fails, for example because a file can't be removed, all
/// steps are undone in the same way, and `commit` is renamed back to `staging`.
enum DiskBatch {
    private static let staging = "staging"
    private static let committed = "commit"
    private static let done = "done"
    private static let list = "list"

    /// Minimum number of files for syncing the whole volume once, which is then faster than syncing each file.
    private static let volumeSyncThreshold = 16

    /// Whether a batch has been committed but not ended.
    static func isCommitted(in folder: Int32, _ owner: DiskFolder) throws -> Bool {
        try FileSystem.exists(DiskName.controlFolder + "/" + committed, in: folder, owner.controlPath)
    }

    /// Commits a plan and carries it out.
    static func commit(_ plan: DiskPlan, in owner: DiskFolder, _ folder: Int32, _ control: Int32) throws {
        try removeLeftovers(in: owner, control)
        let steps: Steps
        do {
            steps = try stage(plan, in: owner, folder, control)
            try FileSystem.check(owner.controlPath, "written") { renameat(control, staging, control, committed) }
        } catch {
            // That takes time, which a suspension does not have. The next batch removes the files.
            if !LockHolders.shared.areSuspended { removeQuietly(staging, in: owner, control) }
            throw error
        }
        // The timeout for readers starts now, because staging a large batch may have taken long.
        try carryOut(steps, in: owner, folder, control) { owner.lockTimeout.deadline() }
    }

    /// Carries out the rest of a batch whose process has ended, or undoes the batch.
    ///
    /// - Parameter deadline: The deadline for waiting for readers.
    static func finish(in owner: DiskFolder, _ folder: Int32, _ control: Int32, _ deadline: LockDeadline) throws {
        let steps = try Steps(contentsOfFile: owner.controlPath + "/\(committed)/\(list)")
        try carryOut(steps, in: owner, folder, control) { deadline }
    }

    private static func carryOut(
        _ steps: Steps,
        in owner: DiskFolder,
        _ folder: Int32,
        _ control: Int32,
        _ deadline: () -> LockDeadline
    ) throws {
        let work = Work(steps: steps, committed: committed, owner: owner, folder: folder)
        defer { FileSystem.unlock(folder) }
        do {
            try owner.synchronizeEntries(control, owner.controlPath)
            // Readers of several items see all of the batch or none of it. New readers wait while it is committed.
            try deadline().lock(folder, LOCK_EX, isContinuation: true, owner.path)
            try work.carryOut()
            try owner.synchronizeEntries(folder, owner.path)
        } catch {
            do {
                // The lock is not needed: no reader reads while there is a committed batch.
                try work.undo()
                try owner.synchronizeEntries(folder, owner.path)
                try FileSystem.check(owner.controlPath, "undone") { renameat(control, committed, control, staging) }
                try owner.synchronizeEntries(control, owner.controlPath)
            } catch let failure {
                throw StorageError(
                    .damaged,
                    "A batch failed, and undoing it failed, too (\(failure)). The next operation retries it.",
                    file: owner.url,
                    cause: error
                )
            }
            removeQuietly(staging, in: owner, control)
            throw error
        }
        try FileSystem.removeFolder(done, in: control, owner.controlPath + "/" + done)
        try FileSystem.check(owner.controlPath, "finished") { renameat(control, committed, control, done) }
        try owner.synchronizeEntries(control, owner.controlPath)
        // The rest does not concern readers.
        FileSystem.unlock(folder)
        removeQuietly(done, in: owner, control)
    }

    /// Removes the leftovers of batches that were not committed or have ended.
    static func removeLeftovers(in owner: DiskFolder, _ control: Int32) throws {
        for name in [staging, done] {
            try FileSystem.removeFolder(name, in: control, owner.controlPath + "/" + name)
        }
    }

    /// Removes the files of a batch that is over. Files that can't be removed are left to the next batch.
    private static func removeQuietly(_ name: String, in owner: DiskFolder, _ control: Int32) {
        do {
            try FileSystem.removeFolder(name, in: control, owner.controlPath + "/" + name)
        } catch {
            bodegaLogger.warning(
                "The leftover files of a batch could not be removed. The next batch removes them.",
                metadata: ["error": "\(error)"])
        }
    }

    private static func stage(_ plan: DiskPlan, in owner: DiskFolder, _ folder: Int32, _ control: Int32) throws -> Steps
    {
        let path = owner.controlPath + "/" + staging
        try FileSystem.check(path, "created") { mkdirat(control, staging, 0o700) }
        guard
            let directory = try FileSystem.openIfPresent(staging, in: control, O_RDONLY | O_DIRECTORY, path, absent: [])
        else {
            return Steps()
        }
        defer { close(directory) }
        let syncsVolume = canSyncVolume && plan.writes >= volumeSyncThreshold
        var steps = Steps()
        for (name, action) in plan.actions {
            try LockHolders.shared.check()
            switch action {
            case .write(let record, let content):
                let isComplete = try owner.stage(
                    record,
                    content,
                    of: name,
                    as: "\(steps.list.count)",
                    in: directory,
                    folder,
                    synchronized: !syncsVolume
                )
                steps.list.append(.write(name, hasSidecar: !isComplete))
            case .remove:
                steps.list.append(.remove(name))
            }
        }
        _ = try owner.create(list, in: directory, steps.bytes, !syncsVolume)
        if syncsVolume { try syncVolume(directory, path) }
        // After a crash, the folder must hold either the list with all of its files or nothing of both.
        try FileSystem.synchronize(directory, path)
        return steps
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
