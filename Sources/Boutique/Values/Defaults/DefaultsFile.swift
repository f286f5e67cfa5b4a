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

/// Values in a file of their own, a ``ValueLog``.
///
/// 1. A writer takes `turn`, which excludes the other threads, then an `flock` on the file, which excludes other
///    processes. The thread that holds both may take them again.
/// 2. It reads what other processes have appended, and appends its change. From then on each reader finds it, and it
///    survives the end of the process.
/// 3. `background` synchronizes the file soon after, and at the latest when the process exits; see `flush()`. No writer
///    waits for that.
/// 4. The file watch of every process notices the change and calls the observers; see ``ValueObservers``. Like that
///    of a store, it looks itself where the system reports nothing: the folder was removed, or can't be watched.
///
/// A reader takes no file lock: it compares the status of the open file with that of the cached entries, and reads what
/// was appended. `turn` guards `held` and `depth`, `content` the cache, and `watch` the file watch. `syncing` is held
/// while the file is synchronized. `turn` is taken within `syncing`, never the other way round, and `content` last.
final class DefaultsFile: ValueStorage {
    let url: URL
    let observers = ValueObservers()
    private let watch = Locked<Watch>(.none)

    private enum Watch: Sendable {
        case unwatched
        case none
        case begun(FileWatch)
    }

    let content: Locked<DefaultsContent>

    private let turn = TurnLock()
    private let lockTimeout: LockTimeout
    let path: String
    let surroundings: Surroundings
    /// The locked file and the number of nested locks.
    nonisolated(unsafe) private var held: OpenFile?
    nonisolated(unsafe) private var depth = 0

    let syncing = NSLock()
    let background: DelayedJob
    let hasFailed = Locked(false)

    /// The system's services that a file of values uses.
    struct Surroundings: Sendable {
        var watch = FileWatch.Surroundings()
        /// Makes an open file, or the entries of an open folder, survive a power failure.
        var synchronize: @Sendable (_ descriptor: Int32, _ path: String) throws -> Void = {
            try FileSystem.synchronize($0, $1)
        }
        /// Calls a closure later, on a thread that may block.
        var delay: DelayedJob.Delay = DelayedJob.halfASecond
    }

    /// Creates an object for a file without accessing it. A process must have one object for each file: ``shared(_:)``.
    ///
    /// - Parameters:
    ///   - isWatched: Whether the file is watched for foreign changes.
    ///   - lockTimeout: How long writers wait for other threads and processes.
    init(
        url: URL, isWatched: Bool = true, lockTimeout: LockTimeout = .standard,
        surroundings: Surroundings = Surroundings()
    ) {
        // A new file that replaces it must not replace a link to it.
        let url = url.resolvingSymlinksInPath()
        self.url = url
        self.path = url.path
        self.lockTimeout = lockTimeout
        self.surroundings = surroundings
        content = Locked(DefaultsContent(url: url))
        background = DelayedJob(surroundings.delay)
        if !isWatched { watch.withLock { $0 = .unwatched } }
    }

    func load(_ name: String) throws -> Data? {
        let (data, isUnsynced) = try content.withLock { content in
            let isFirst = try content.refresh()
            return (content.entries[ExactText(name)], isFirst && content.log.needsSync)
        }
        // A process that was killed has left changes behind.
        if isUnsynced { scheduleFlush() }
        return data
    }

    func save(_ data: Data?, _ name: String) throws {
        let (old, log, mustBeReplaced) = try content.withLock { content in
            try content.refresh()
            return (content.entries[ExactText(name)], content.log, content.mustBeReplaced)
        }
        if old == data { return }
        if mustBeReplaced {
            boutiqueLogger.notice(
                """
                A file of values is replaced: it ends in an incomplete change, as after a power failure or the sudden \
                end of a program.
                """,
                metadata: ["file": "\(path)"]
            )
            try replace(lockTimeout.deadline())
        }
        try append(to: mustBeReplaced ? content.withLock { $0.log } : log) {
            try $0.append(data, name)
        } then: {
            $0.note((name, data), $1, $2)
        }
        scheduleFlush()
    }

    /// Appends a record to the file. Only called within ``exclusively(_:)``.
    ///
    /// - Parameters:
    ///   - old: The log that the file contains.
    ///   - record: Adds the record to the log, and returns its bytes.
    ///   - note: Notes it, unless a reader has read it in the meantime.
    func append(
        to old: ValueLog,
        _ record: (inout ValueLog) throws -> Data,
        then note: (inout DefaultsContent, ValueLog, FileVersion) -> Void
    ) throws {
        guard let held else { preconditionFailure("A file of values is changed without exclusive access.") }
        var new = old
        let bytes = try record(&new)
        do {
            try bytes.withUnsafeBytes { try FileSystem.append($0, to: held.descriptor, path) }
        } catch {
            // A part may have been written. If it can't be removed, the next writer replaces the file.
            ftruncate(held.descriptor, off_t(old.end))
            throw error
        }
        let version = FileVersion(try held.status())
        content.withLock { content in
            if content.log == old { note(&content, new, version) }
        }
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try exclusively(lockTimeout.deadline(), body)
    }

    func exclusively<Result>(_ deadline: LockDeadline, _ body: () throws -> Result) throws -> Result {
        try turn.withLock(deadline, path) {
            if depth == 0 {
                let (file, version) = try lock(url, deadline)
                content.withLock { $0.checkPath(version) }
                held = file
            }
            depth += 1
            defer {
                depth -= 1
                if depth == 0 { hold(nil) }
            }
            return try body()
        }
    }

    /// Opens and locks a file, and creates it if it is missing.
    func lock(_ url: URL, _ deadline: LockDeadline) throws -> (OpenFile, FileVersion) {
        while true {
            let file = try OpenFile(creating: url, O_RDWR | O_APPEND)
            try deadline.lock(file.descriptor, LOCK_EX, file.path)
            let version = FileVersion(try file.status())
            // Another process may have replaced the file in the meantime.
            if FileVersion(at: file.path).map(version.isSameFile) == true { return (file, version) }
            file.unlock()
        }
    }

    /// Replaces the locked file, and unlocks the previous one.
    func hold(_ file: OpenFile?) {
        held?.unlock()
        held = file
    }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        watch.withLock { watch in
            if case .none = watch { watch = .begun(makeWatch()) }
        }
        return observers.add(name, onChange)
    }

    private func makeWatch() -> FileWatch {
        do {
            try FileSystem.createDirectory(at: url.deletingLastPathComponent())
        } catch {
            boutiqueLogger.debug(
                "The folder of stored values does not exist and could not be created.",
                metadata: ["file": "\(path)", "error": "\(error)"]
            )
        }
        // At first none of both, so that the first look is followed by a check.
        let lastSeen = Locked<FileVersion??>(nil)
        return FileWatch(of: path, suffixes: [""], in: surroundings.watch) { [observers, content, path] in
            let version = FileVersion(at: path)
            let isNew = lastSeen.withLock { last in
                defer { last = .some(version) }
                return last != .some(version)
            }
            if isNew {
                content.withLock { $0.checkPath(version) }
                foreignChangeQueue.async {
                    // Checking all values after each change would take quadratic time.
                    observers.checkForForeignChanges(of: content.withLock { $0.takeUnchecked() })
                }
            }
        }
    }
}
