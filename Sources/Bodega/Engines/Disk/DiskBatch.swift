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

/// Changes many files all or nothing, with a redo log that is an undo log too.
///
/// The next states of the files and a list of what is to be done are written into a folder, `staging`. Renaming it to
/// `commit` is the moment that counts. Then each file that is replaced or removed moves into that folder, and its next
/// state, if it has one, out of it. In the end the folder is renamed to `done` and removed.
///
/// If the process is gone in between, whoever takes the writers' lock next carries the rest of the list out: what has
/// been done already is seen from what is still in the folder. If a step fails, because a file is locked against
/// removal, say, all steps are undone in the same way, and nothing has happened.
enum DiskBatch {
    private static let staging = "staging"
    private static let committed = "commit"
    private static let done = "done"
    private static let list = "list"

    /// From how many files on it is faster to sync the whole volume once than each of them.
    private static let volumeSyncThreshold = 16

    /// Whether a batch has been committed and not carried out to its end.
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
            removeQuietly(staging, in: owner, control)
            throw error
        }
        // The time for readers begins now: preparing a large batch may have taken long.
        try carryOut(steps, in: owner, folder, control) { owner.lockTimeout.deadline() }
    }

    /// Carries out the rest of a batch whose process is gone, or undoes what has been carried out of it.
    ///
    /// - Parameter deadline: Until when to wait for readers.
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
        defer { flock(folder, LOCK_UN) }
        do {
            try owner.synchronizeEntries(control, owner.controlPath)
            // Readers of several items see all of it or nothing. New ones wait when they see that it is committed.
            try deadline().lock(folder, LOCK_EX, owner.path)
            try work.carryOut()
            try owner.synchronizeEntries(folder, owner.path)
        } catch {
            do {
                // Also without the lock: no reader reads while there is a committed batch.
                try work.undo()
                try owner.synchronizeEntries(folder, owner.path)
                try FileSystem.check(owner.controlPath, "undone") { renameat(control, committed, control, staging) }
                try owner.synchronizeEntries(control, owner.controlPath)
            } catch let failure {
                throw StorageError(
                    .damaged,
                    "A batch failed, and so did undoing it (\(failure)). It is tried again with the next operation.",
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
        // The rest is of no interest to readers.
        flock(folder, LOCK_UN)
        removeQuietly(done, in: owner, control)
    }

    /// Removes what batches have left that were not committed or are done.
    static func removeLeftovers(in owner: DiskFolder, _ control: Int32) throws {
        for name in [staging, done] {
            try FileSystem.removeFolder(name, in: control, owner.controlPath + "/" + name)
        }
    }

    /// Removes files that mean nothing any more; what stays is removed before the next batch.
    private static func removeQuietly(_ name: String, in owner: DiskFolder, _ control: Int32) {
        do {
            try FileSystem.removeFolder(name, in: control, owner.controlPath + "/" + name)
        } catch {
            bodegaLogger.warning("The files of a batch that is over stay for now.", metadata: ["error": "\(error)"])
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
        // The list must not be without its files, nor the other way round, when the folder is found again.
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
