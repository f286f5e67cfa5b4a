public import Foundation
import Logging

/// An engine that keeps each item in its own file: for items that other programs read, too, and for large items.
///
/// ```swift
/// let engine = try DiskStorageEngine(opening: .caches(appendingPath: "Pictures"))
/// try await engine.write(picture, key: CacheKey(url: pictureURL))
/// ```
///
/// - A file is named after its key's ``CacheKey/value`` and holds the item's bytes, nothing else. The metadata is in an
///   extended attribute or, where the volume has none, in a file in the subfolder `.emporium`.
/// - When a write returns, the item is on disk: its file and its name in the folder are synced, in this order, because
///   a file must be complete before it replaces another one. With ``StorageDurability/relaxed`` durability, the engine
///   syncs the file alone, as Bodega 2 does on Linux, which takes about two thirds of the time. A power failure can
///   then lose the last writes.
/// - Batches are applied all or nothing, even if the program or the system crashes: a committed batch is finished when
///   the folder is used next. Reads of several items see all of a batch or none of it. There is one exception: on a
///   full volume without space for preparing a batch, removals are carried out one by one.
/// - Conditional batches compare items under the lock that all engines for the folder take to write. So they lose no
///   change of another engine or process, but can overwrite one that a program without that lock makes in the same
///   moment.
/// - Any number of engines, in one or several processes, can use the same folder concurrently. An operation that has to
///   wait longer than 30 seconds for another one throws ``StorageError/Code/locked``.
/// - Folders of the first Bodega can be opened with all of their items, and the first Bodega can read ours. Its files
///   don't contain the keys that they were written under: their items are found by those keys, but listed under
///   verbatim keys with the files' names.
///
/// Files that the engine did not write count as items; subfolders don't.
public final class DiskStorageEngine: StorageBackend {

    private let core: DiskFolder
    private let clock: @Sendable () -> Date
    private let readers = ReaderGate(count: 4)
    /// Admits one writer at a time.
    private let writers = ReaderGate(count: 1)

    /// Creates an engine on a folder, which is created if it is missing.
    ///
    /// This initializer never fails. If the folder cannot be created or read, the engine's operations throw the error.
    ///
    /// - Parameter directory: The folder.
    public init(directory: FileManager.Directory) {
        core = DiskFolder(url: directory.url, durability: .full)
        clock = { Date() }
        do {
            try open()
        } catch {
            bodegaLogger.error(
                "The folder of an engine could not be opened. The engine's operations will fail.",
                metadata: ["error": "\(error)"])
        }
    }

    /// Creates an engine on a folder, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - durability: The failures that a finished write survives.
    ///   - now: Returns the time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the folder cannot be created or read.
    public init(
        opening directory: FileManager.Directory,
        durability: StorageDurability = .full,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        core = DiskFolder(url: directory.url, durability: durability)
        clock = now
        try open()
    }

    /// Creates a read-only engine on a folder. It never creates or changes anything in the folder.
    ///
    /// Other engines may write concurrently. Writing to this engine throws ``StorageError/Code/readOnly``. If a program
    /// stopped during a batch, reading throws until the folder is opened for writing, which finishes the batch.
    ///
    /// - Parameter directory: The folder.
    /// - Throws: A ``StorageError`` if the folder does not exist or cannot be read.
    public init(reading directory: FileManager.Directory) throws {
        core = DiskFolder(url: directory.url, durability: .full, isReadOnly: true)
        clock = { Date() }
        try core.withFolder { _ in }
    }

    private func open() throws {
        try FileSystem.createDirectory(at: core.url)
        do {
            try core.recover()
        } catch {
            // The folder may still be readable. If the leftovers prevent reading, the reads throw.
            bodegaLogger.warning("The leftovers of a crash could not be cleaned up.", metadata: ["error": "\(error)"])
        }
        try core.withFolder { _ in }
    }

    /// The location of the folder.
    public var directory: FileManager.Directory { FileManager.Directory(url: core.url) }

    // MARK: Reading

    public func fetch(key: CacheKey) async throws -> Data? {
        try await reading { try $0.data(of: key) }
    }

    public func fetch(_ request: FetchRequest) async throws -> StorageAnswer<[StorageItem]> {
        if request.fields.contains(.place) { return try await fetchWithPlaces(request) }
        let items = try await reading { folder in try folder.items(request) }
        return StorageAnswer(items)
    }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        try await scanByKeys(request, begin)
    }

    public func now() -> Date { clock() }

    /// A batch is atomic. Items have no positions: files are in the order of the times in them.
    public var traits: StorageTraits { [.atomic, .conditional, .dated, .ignoresCancellation] }

    public func fetchAll() async throws -> [(key: CacheKey, data: Data)] {
        try await reading { try $0.allItems() }
    }

    /// Opens each file once. The default would open it twice, first for its key.
    public func fetchAllData() async throws -> [Data] {
        try await fetchAll().map(\.data)
    }

    public func fetchKeys() async throws -> [CacheKey] {
        try await reading { try $0.allKeys() }
    }

    public func fetchCount() async throws -> Int {
        try await reading { try $0.count() }
    }

    /// Returns when an item was last read or written, as far as the volume records it.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: The date, or `nil` if there is no such item or it could not be read.
    public func lastAccessed(key: CacheKey) async -> Date? {
        await loggingErrors(orElse: nil) { try await reading { try $0.lastAccessed(key: key) } }
    }

    // MARK: Writing

    public func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        let date = now()
        let wasApplied = try await writing { try $0.apply(batch, at: date) }
        return StorageAnswer(BatchOutcome(wasApplied: wasApplied))
    }

    public func fetchStream(key: CacheKey) async throws -> StorageByteStream? {
        try await reading { try $0.stream(of: key) }.map { StorageByteStream($0) }
    }

    /// Writes an item in parts. See ``StorageEngine/write(stream:key:)``.
    ///
    /// Other writers wait while a large item is copied into the folder. If that takes longer than 30 seconds, they
    /// throw ``StorageError/Code/locked``.
    public func apply(_ stream: StorageByteStream, key: CacheKey) async throws -> StorageAnswer<BatchOutcome> {
        // Before the folder is locked, as the stream may be slow.
        switch try await StreamedBytes(of: stream) {
        case .data(let data):
            return try await apply(StorageBatch([.write(key: key, data: data)]))
        case .file(let file):
            let date = now()
            try await writing { try $0.write(file, key: key, at: date) }
            return StorageAnswer(BatchOutcome())
        }
    }

    func writing<Value: Sendable>(_ body: @escaping @Sendable (DiskFolder) throws -> Value) async throws -> Value {
        try await carryOut(in: writers, body)
    }

    func reading<Value: Sendable>(_ body: @escaping @Sendable (DiskFolder) throws -> Value) async throws -> Value {
        try await carryOut(in: readers, body)
    }

    private func carryOut<Value: Sendable>(
        in gate: ReaderGate, _ body: @escaping @Sendable (DiskFolder) throws -> Value
    ) async throws -> Value {
        try await LockHolders.shared.repeating {
            // Also for reads that need no lock.
            try LockHolders.shared.check()
            return try await withCheckedThrowingContinuation { continuation in
                let requested = core.lockTimeout.now()
                gate.schedule { [core] in
                    let result = Result { try core.carryOut(requestedAt: requested, body) }
                    return { continuation.resume(with: result) }
                }
            }
        }
    }
}

extension DiskStorageEngine: SampledStorageEngine {
    /// Some keys, without opening the files of all.
    package func fetchSomeKeys(_ count: Int) async throws -> [CacheKey] {
        try await reading { try $0.someKeys(count) }
    }
}
