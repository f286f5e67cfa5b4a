import Dispatch
public import Foundation
import Logging

/// An engine that keeps each item in a file of its own: for items that other programs read too, and for large ones.
///
/// ```swift
/// let engine = try DiskStorageEngine(opening: .caches(appendingPath: "Pictures"))
/// try await engine.write(picture, key: CacheKey(url: pictureURL))
/// ```
///
/// - A file is named after its key's ``CacheKey/value`` and holds the item's bytes, nothing else. What else there is to
///   know is in an extended attribute or, where the volume has none, in a file in the subfolder `.emporium`.
/// - When a write returns, the item is on the medium, unless the engine was opened with
///   ``StorageDurability/relaxed`` durability.
/// - Batches are applied all or nothing, also when the program or the system stops in between: what was committed is
///   finished when the folder is used next. The forms that read several items see all of a batch or nothing of it. There
///   is one exception: on a full volume, where there is no room to prepare a batch, removals are done one by one.
/// - Engines on the same folder, in one process or many, work concurrently. One that has to wait longer than 30 seconds for
///   another throws ``StorageError/Code/locked``.
/// - Folders of the first Bodega open with everything in them, and it can read ours. Their files don't tell the keys
///   that they were written under: they are found by those keys, but listed as verbatim keys with the files' names.
///
/// Files that the engine did not write count as items; subfolders don't.
public final class DiskStorageEngine: ThrowingStorageEngine {

    private let core: DiskFolder
    private let now: @Sendable () -> Date
    private let readers = ReaderGate(
        count: 4, queue: DispatchQueue(label: "emporium.bodega.disk.reads", attributes: .concurrent))
    private let writeQueue = DispatchQueue(label: "emporium.bodega.disk.writes")

    /// Uses a folder; creates it if it is missing.
    ///
    /// It never fails. If the folder cannot be created or read, the engine's operations throw the cause.
    ///
    /// - Parameter directory: The folder.
    public init(directory: FileManager.Directory) {
        core = DiskFolder(url: directory.url, durability: .full)
        now = { Date() }
        do {
            try open()
        } catch {
            bodegaLogger.error("A folder could not be opened.", metadata: ["error": "\(error)"])
        }
    }

    /// Uses a folder; creates it if it is missing.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - durability: What a finished write has survived.
    ///   - now: Tells the time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the folder cannot be created or read.
    public init(
        opening directory: FileManager.Directory,
        durability: StorageDurability = .full,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        core = DiskFolder(url: directory.url, durability: durability)
        self.now = now
        try open()
    }

    /// Uses a folder for reading only: nothing is created or changed in it, also on a volume that can be written to.
    ///
    /// It works while others write. Writing throws ``StorageError/Code/readOnly``. If a program was stopped in the midst
    /// of a batch, reading throws until the folder was opened for writing once, which finishes the batch.
    ///
    /// - Parameter directory: The folder.
    /// - Throws: A ``StorageError`` if there is no such folder or it cannot be read.
    public init(reading directory: FileManager.Directory) throws {
        core = DiskFolder(url: directory.url, durability: .full, isReadOnly: true)
        now = { Date() }
        try core.withFolder { _ in }
    }

    private func open() throws {
        try FileSystem.createDirectory(at: core.url)
        do {
            try core.recover()
        } catch {
            // The folder may still be readable. If what is left to recover matters, reading says so.
            bodegaLogger.warning("What a crash left could not be cleaned.", metadata: ["error": "\(error)"])
        }
        try core.withFolder { _ in }
    }

    /// Where the folder is.
    public var folder: URL { core.url }

    // MARK: Reading

    public func fetch(key: CacheKey) async throws -> Data? {
        try await reading { try $0.data(of: key) }
    }

    public func fetch(keys: [CacheKey]) async throws -> [(key: CacheKey, data: Data)] {
        try await reading { try $0.items(of: keys) }
    }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await reading { try $0.allItems() }
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await reading { try $0.allKeys() }
    }

    public func fetchKeys(among candidates: [CacheKey]) async throws -> [CacheKey] {
        try await reading { try $0.existing(among: candidates) }
    }

    public func fetchCount() async throws -> Int {
        try await reading { try $0.count() }
    }

    public func fetchDates(key: CacheKey) async throws -> StorageDates? {
        try await reading { try $0.dates(of: key) }
    }

    /// Tells when an item was last read or written, as far as the volume keeps track of that.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The date, or `nil` if there is no such item or it could not be read.
    public func lastAccessed(key: CacheKey) async -> Date? {
        await logged(orElse: nil) { try await reading { try $0.lastAccessed(key: key) } }
    }

    // MARK: Writing

    public func apply(_ operations: [StorageOperation]) async throws {
        try await apply(operations, dates: [:])
    }

    /// Applies operations; items that have dates of their own get these.
    func apply(_ operations: [StorageOperation], dates: [CacheKey: StorageDates]) async throws {
        let date = now()
        try await writing { try $0.apply(operations, at: date, dates: dates) }
    }

    func writing(_ body: @escaping @Sendable (DiskFolder) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let asked = core.lockTimeout.now()
            writeQueue.async { [core] in
                continuation.resume(with: Result { try core.carryOut(askedAt: asked, body) })
            }
        }
    }

    func reading<Value: Sendable>(_ body: @escaping @Sendable (DiskFolder) throws -> Value) async throws
        -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let asked = core.lockTimeout.now()
            readers.enterLater { [core] in
                let result = Result { try core.carryOut(askedAt: asked, body) }
                return { continuation.resume(with: result) }
            }
        }
    }
}
