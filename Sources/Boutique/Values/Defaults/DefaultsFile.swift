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

/// Values in a property list file of their own, which maps names to bytes.
///
/// The file is always replaced as a whole after its new content is on disk, so readers never see a partial file and it
/// survives a crash at any moment.
///
/// 1. A writer takes `turn`, which excludes the other threads, then an `flock` on the file with the suffix `.lock`,
///    which excludes other processes. The thread that holds both may take them again.
/// 2. It reads the entries, writes and synchronizes a draft with the suffix `.new`, and renames it to the file.
/// 3. It caches the new entries, and synchronizes the folder.
/// 4. The file watch of every process notices the new file and calls the observers; see ``ValueObservers``. Like that
///    of a store, it looks itself where the system reports nothing: the folder was removed, or can't be watched.
///
/// A reader takes no file lock: it compares the file's status with that of the cached entries, and reads the file only
/// if it was replaced. `turn` guards `lockFile` and `depth`, `content` the cache, and `watch` the file watch.
final class DefaultsFile: ValueStorage {
    private let url: URL
    let observers = ValueObservers()
    private let watch = Locked<Watch>(.none)

    private enum Watch: Sendable {
        case unwatched
        case none
        case begun(FileWatch)
    }

    private struct Content: Sendable {
        var entries: [String: Data] = [:]
        var file: OpenFile?
    }

    private let content = Locked(Content())

    private let turn = TurnLock()
    private let lockTimeout: LockTimeout
    private let surroundings: FileWatch.Surroundings
    /// The locked file and the number of nested locks.
    nonisolated(unsafe) private var lockFile: OpenFile?
    nonisolated(unsafe) private var depth = 0

    /// Creates an object for a file without accessing it. A process must have one object for each file: ``shared(_:)``.
    ///
    /// - Parameters:
    ///   - isWatched: Whether the file is watched for foreign changes.
    ///   - lockTimeout: How long writers wait for other threads and processes.
    init(
        url: URL, isWatched: Bool = true, lockTimeout: LockTimeout = .standard,
        surroundings: FileWatch.Surroundings = FileWatch.Surroundings()
    ) {
        self.url = url
        self.lockTimeout = lockTimeout
        self.surroundings = surroundings
        if !isWatched { watch.withLock { $0 = .unwatched } }
    }

    private static let all = Locked<[URL: DefaultsFile]>([:])

    /// The object for a file, the same for each call.
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
        // No other writer uses this name while the lock is held.
        let draft = url.appendingPathExtension("new")
        try FileSystem.createFile(
            draft.lastPathComponent, in: folder.descriptor, permissions: 0o600, bytes, draft.path
        ) { descriptor in
            try FileSystem.synchronize(descriptor, draft.path)
            try FileSystem.check(url.path, "replaced") { rename(draft.path, url.path) }
        }
        let file = try OpenFile(url, O_RDONLY)
        let status = try file.status()
        content.withLock { $0 = Content(entries: entries, file: file.known(as: FileVersion(status))) }
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
                // Unlocked explicitly: a child that was forked in the meantime would keep the lock of a closed file.
                flock(file.descriptor, LOCK_UN)
                lockFile = nil
            }
        }
        return try body()
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
                metadata: ["file": "\(url.path)", "error": "\(error)"]
            )
        }
        // At first none of both, so that the first look is followed by a check.
        let lastSeen = Locked<FileVersion??>(nil)
        return FileWatch(of: url.path, suffixes: [""], in: surroundings) { [observers, url] in
            let version = FileVersion(at: url.path)
            let isNew = lastSeen.withLock { last in
                defer { last = .some(version) }
                return last != .some(version)
            }
            if isNew { foreignChangeQueue.async { observers.checkForForeignChanges() } }
        }
    }

    /// The current entries of the file.
    private func entries() throws -> [String: Data] {
        var status = stat()
        while stat(url.path, &status) != 0 {
            if errno == ENOENT { return [:] }
            if errno != EINTR { throw StorageError.system(errno, url.path, "examined") }
        }
        // The cached file is kept open, so that no new file gets its inode number.
        let version = FileVersion(status)
        let known = content.withLock { $0.file?.isUnchanged(version) == true ? $0.entries : nil }
        if let known { return known }
        let file: OpenFile
        do {
            file = try OpenFile(url, O_RDONLY)
        } catch let error as StorageError where error.code == .cannotOpen && access(url.path, F_OK) != 0 {
            return [:]
        }
        let opened = try file.status()
        let entries = try parse(try file.read())
        content.withLock { $0 = Content(entries: entries, file: file.known(as: FileVersion(opened))) }
        return entries
    }

    private func parse(_ bytes: Data) throws -> [String: Data] {
        let damaged =
            "The file is not a property list of values. Move it away to start with an empty file; until then, writes fail."
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
