import Bodega
import Foundation
import Logging

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DefaultsFile {

    private static let all = Locked<[URL: DefaultsFile]>([:])

    /// The object for a file, the same for each call. Its changes are synchronized when the process exits.
    static func shared(_ url: URL) -> DefaultsFile {
        _ = flushingAtExit
        let url = url.resolvingSymlinksInPath()
        return all.withLock { all in
            if let file = all[url] { return file }
            let file = DefaultsFile(url: url)
            all[url] = file
            return file
        }
    }

    private static let flushingAtExit: Void = {
        _ = atexit {
            for file in DefaultsFile.all.withLock({ Array($0.values) }) where file.background.isRequested {
                file.flushInBackground()
            }
        }
    }()

    /// Synchronizes the file soon.
    func scheduleFlush() {
        background.request { [self] in flushInBackground() }
    }

    private func flushInBackground() {
        do {
            try flush()
            hasFailed.withLock { $0 = false }
        } catch let error as StorageError where error.code == .suspended {
            // The system may suspend the process until then.
            scheduleFlush()
        } catch {
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            if isFirst {
                boutiqueLogger.error(
                    "Stored values are not on disk: a power failure would take their last changes. Trying again.",
                    metadata: ["file": "\(url.path)", "error": "\(error)"]
                )
            }
            // A damaged file stays damaged.
            if (error as? StorageError)?.code != .damaged { scheduleFlush() }
        }
    }

    /// Waits until all changes that were made before the call survive a power failure.
    ///
    /// 1. It synchronizes the file, which writers may change in the meantime.
    /// 2. If another process has replaced the file, its step 1 may have missed changes: it starts again.
    /// 3. It appends a mark to the file, or replaces a file that has an incomplete end or mostly outdated changes.
    func flush() throws {
        try syncing.withLock {
            while true {
                let content = try refreshed()
                let log = content.log
                guard let file = content.file, log.needsSync else { return }
                do {
                    try surroundings.synchronize(file.descriptor, path)
                    // The name of a file that was never synchronized may be new.
                    if log.synced == 0 { try synchronizeFolder() }
                } catch {
                    // The system may have dropped what it could not write, and would not fail again.
                    try replace(LockTimeout(.zero).deadline())
                    continue
                }
                let isCurrent = try self.content.withLock { content in
                    try content.refresh()
                    content.noteSynced(log.end, of: file)
                    return content.file === file
                }
                if isCurrent { return tidy(log.end, of: file) }
            }
        }
    }

    private func tidy(_ synced: Int, of file: OpenFile) {
        let deadline = LockTimeout(.zero).deadline()
        do {
            let content = try refreshed()
            if content.isWasteful || content.mustBeReplaced { return try replace(deadline) }
            try exclusively(deadline) {
                let content = try refreshed()
                // The mark would be about another file, or follow an incomplete change.
                if content.file !== file || content.mustBeReplaced { return }
                try append(to: content.log) {
                    $0.appendMark(synced)
                } then: {
                    $0.note(nil, $1, $2)
                }
            }
        } catch {
            // The changes are on disk. The next flush tries again.
            boutiqueLogger.debug(
                "A file of values could not be tidied.", metadata: ["file": "\(path)", "error": "\(error)"])
        }
    }

    private func synchronizeFolder() throws {
        let folder = url.deletingLastPathComponent()
        guard let opened = try OpenFile(ifPresent: folder) else { return }
        try surroundings.synchronize(opened.descriptor, opened.path)
    }

    /// Lets a new file with the same values replace the file, which is synchronized before and afterwards.
    ///
    /// 1. A draft, which is locked, gets all values and is synchronized. Writers do not wait for that.
    /// 2. With exclusive access, it gets the changes that were made in the meantime, and replaces the file.
    ///
    /// - Parameter deadline: Until when to wait for another process that does the same, or changes a value.
    func replace(_ deadline: LockDeadline) throws {
        let (draft, _) = try lock(url.appendingPathExtension("new"), deadline)
        var log = ValueLog()
        let file: OpenFile?
        var isReplaced = false
        do {
            let old = try refreshed()
            try FileSystem.check(draft.path, "emptied") { ftruncate(draft.descriptor, 0) }
            try write(old.entries.map { ($0.key.text, $0.value) }, isSynced: true, &log, to: draft)
            try surroundings.synchronize(draft.descriptor, draft.path)
            file = try exclusively(deadline) {
                let new = try refreshed()
                let names = Set(old.entries.keys).union(new.entries.keys)
                let changed = names.filter { old.entries[$0] != new.entries[$0] }
                try write(changed.map { ($0.text, new.entries[$0]) }, &log, to: draft)
                try FileSystem.check(path, "replaced") { rename(draft.path, path) }
                isReplaced = true
                hold(draft)
                let file = try OpenFile(ifPresent: url)
                let version = FileVersion(try draft.status())
                content.withLock { $0.set(new.entries, log.unsynced, file, version) }
                return file
            }
        } catch {
            if !isReplaced {
                // Frees the space.
                unlink(draft.path)
                draft.unlock()
            }
            throw error
        }
        // Until then, the new name may be lost.
        try synchronizeFolder()
        if let file { content.withLock { $0.noteSynced(log.synced, of: file) } }
        if log.needsSync { scheduleFlush() }
    }

    private func refreshed() throws -> DefaultsContent {
        try content.withLock { content in
            try content.refresh()
            return content
        }
    }

    private func write(
        _ changes: [ValueLog.Change], isSynced: Bool = false, _ log: inout ValueLog, to draft: OpenFile
    ) throws {
        var bytes = Data()
        for change in changes { bytes += try log.append(change.data, change.name) }
        if isSynced { bytes += log.appendMark(log.end) }
        try bytes.withUnsafeBytes { try FileSystem.append($0, to: draft.descriptor, draft.path) }
    }
}
