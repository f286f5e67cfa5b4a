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

/// Values in a file of their own: a property list with the bytes of each.
///
/// The file is only ever replaced as a whole, after its content is on the medium, so it is never seen half written and
/// survives a crash at any moment. Writers, also of other processes, exclude one another by a lock on the file beside it
/// whose name ends in `.lock`. A reader looks whether the file has been replaced, and reads it again only then.
final class DefaultsFile: ValueStorage {
    private let url: URL
    let observers = ValueObservers()
    private let watch = Locked<Watch>(.none)

    private enum Watch: Sendable {
        case none
        /// Tried once: what keeps the system from giving one would be logged for each value.
        case begun((any FileEvents)?)
    }

    private struct Content: Sendable {
        var entries: [String: Data] = [:]
        var file: OpenFile?
    }

    private let content = Locked(Content())

    /// Keeps other threads from writing.
    private let turn = TurnLock()
    private let lockTimeout: LockTimeout
    /// The locked file and how often it is locked; only used by who has the turn.
    nonisolated(unsafe) private var lockFile: OpenFile?
    nonisolated(unsafe) private var depth = 0

    /// Names a file without touching it. There must be one object for each file in a process; see ``shared(_:)``.
    ///
    /// - Parameters:
    ///   - isWatched: Whether changes by others are looked for when the system tells of one.
    ///   - lockTimeout: How long to wait for other threads and processes.
    init(url: URL, isWatched: Bool = true, lockTimeout: LockTimeout = .standard) {
        self.url = url
        self.lockTimeout = lockTimeout
        if !isWatched { watch.withLock { $0 = .begun(nil) } }
    }

    deinit {
        if case .begun(let events) = watch.withLock({ $0 }) { events?.cancel() }
    }

    private static let all = Locked<[URL: DefaultsFile]>([:])

    /// The object for a file, the same at each call.
    static func shared(_ url: URL) -> DefaultsFile {
        all.withLock { all in
            if let file = all[url] { return file }
            let file = DefaultsFile(url: url)
            all[url] = file
            return file
        }
    }

    func load(_ name: String) throws -> Data? {
        try entries()[name]
    }

    func save(_ data: Data?, _ name: String) throws {
        var entries = try entries()
        if entries[name] == data { return }
        entries[name] = data
        let bytes = try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        let folder = try OpenFile(url.deletingLastPathComponent(), O_RDONLY | O_DIRECTORY)
        // Nobody else uses this name while the lock is held.
        let draft = url.appendingPathExtension("new")
        try FileSystem.createFile(
            draft.lastPathComponent, in: folder.descriptor, permissions: 0o600, bytes, draft.path
        ) { descriptor in
            try FileSystem.synchronize(descriptor, draft.path)
            try FileSystem.check(url.path, "replaced") { rename(draft.path, url.path) }
        }
        let file = try OpenFile(url, O_RDONLY)
        let status = try file.status()
        content.withLock { $0 = Content(entries: entries, file: file.known(as: status)) }
        try FileSystem.synchronize(folder.descriptor, folder.url.path)
    }

    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        let (deadline, lock) = (lockTimeout.deadline(), url.appendingPathExtension("lock"))
        return try turn.withLock(deadline, lock.path) { try withFileLock(lock, deadline, body) }
    }

    private func withFileLock<Result>(
        _ url: URL, _ deadline: LockDeadline, _ body: () throws -> Result
    ) throws -> Result {
        if depth == 0 {
            try FileSystem.createDirectory(at: url.deletingLastPathComponent())
            let file = try OpenFile(url, O_RDWR | O_CREAT)
            try deadline.lock(file.descriptor, LOCK_EX, url.path)
            lockFile = file
        }
        depth += 1
        defer {
            depth -= 1
            if depth == 0, let file = lockFile {
                // Closing it would leave the lock with children that were forked meanwhile.
                flock(file.descriptor, LOCK_UN)
                lockFile = nil
            }
        }
        return try body()
    }

    func observe(_ name: String, _ onChange: @escaping ValueObservers.Observer) -> ValueObservation {
        watch.withLock { watch in
            if case .none = watch { watch = .begun(beginToWatch()) }
        }
        return observers.add(name, onChange)
    }

    private func beginToWatch() -> (any FileEvents)? {
        do {
            try FileSystem.createDirectory(at: url.deletingLastPathComponent())
            return try FileEventsOfSystem.make(url.path, [""], foreignChangeQueue) { [observers] in
                observers.lookForOthers()
            }
        } catch {
            boutiqueLogger.warning(
                "Changes of values by other processes are seen when the values are read, not at once.",
                metadata: ["file": "\(url.path)", "error": "\(error)"]
            )
            return nil
        }
    }

    /// What is in the file now.
    private func entries() throws -> [String: Data] {
        var status = stat()
        while stat(url.path, &status) != 0 {
            if errno == ENOENT { return [:] }
            if errno != EINTR { throw StorageError.system(errno, url.path, "examined") }
        }
        // The file that was read is kept open, so that no other one gets its number.
        let known = content.withLock { $0.file?.isUnchanged(status) == true ? $0.entries : nil }
        if let known { return known }
        let file: OpenFile
        do {
            file = try OpenFile(url, O_RDONLY)
        } catch let error as StorageError where error.code == .cannotOpen && access(url.path, F_OK) != 0 {
            return [:]
        }
        let opened = try file.status()
        let entries = try parse(try file.read())
        content.withLock { $0 = Content(entries: entries, file: file.known(as: opened)) }
        return entries
    }

    private func parse(_ bytes: Data) throws -> [String: Data] {
        let damaged = "It is not a property list of values. Move it away to start anew; nothing is written until then."
        do {
            let list = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
            guard let entries = list as? [String: Data] else { throw StorageError(.damaged, damaged, file: url) }
            return entries
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.damaged, damaged, file: url, cause: error)
        }
    }
}
