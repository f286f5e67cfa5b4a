import Bodega
import Foundation
import Logging

/// An SQLite file that this module opens, and its open collections.
///
/// Reading creates neither the file nor a collection. The file can be removed or replaced while it is open. Objects
/// saved to the open file would then be lost.
///
/// 1. An operation fails because the file was removed, replaced, or closed.
/// 2. ``SQLiteRecords`` asks for a replacement of its collection.
/// 3. The first request closes the open engine, unless that has been done, and opens the file at the path, or creates
///    it to write. Later requests get a collection of that engine.
/// 4. The collections and their observers stay.
///
/// The lock of `state` guards the engine and the collections. Each file has its own, so a file that is slow to open
/// does not block the others.
final class SQLiteLocation: Sendable {

    private struct State: Sendable {
        var engine: SQLiteStorageEngine?
        var cores = RecentCores<String>()
    }

    private let file: URL
    private let state = Locked(State())

    /// - Parameter file: The file. It is opened when a collection is requested, and created when one is written to.
    init(_ file: URL) {
        self.file = file
    }

    /// Returns a collection, which need not exist.
    ///
    /// - Throws: A `StorageError` if the file exists and can't be opened.
    func core(_ name: String) throws -> CollectionCore {
        let (core, released) = try state.withLock { state -> (CollectionCore, [CollectionCore]) in
            if let core = state.cores[name] { return (core, state.cores.use(core, as: name)) }
            _ = try open(name, creating: false, &state)
            let core = CollectionCore(
                SQLiteRecords { [weak self] creating in
                    try self?.collection(name, creating: creating)
                } replacement: { [weak self] collection, error, creating in
                    try self?.replacement(of: collection, name, after: error, creating: creating) ?? .same
                })
            return (core, state.cores.use(core, as: name))
        }
        withExtendedLifetime(released) {}
        return core
    }

    private func collection(_ name: String, creating: Bool) throws -> SQLiteCollection? {
        try state.withLock { try open(name, creating: creating, &$0) }
    }

    /// Returns a collection of the file, `nil` if there is no file.
    private func open(_ name: String, creating: Bool, _ state: inout State) throws -> SQLiteCollection? {
        let isMissing = try isMissing
        if state.engine != nil, isMissing { try close(&state) }
        if !creating, isMissing { return nil }
        let engine = try state.engine ?? SQLiteStorageEngine(openingForCollections: file)
        state.engine = engine
        return SQLiteCollection(named: name, in: engine)
    }

    /// Returns the collection to use instead of one that has failed.
    private func replacement(
        of collection: SQLiteCollection, _ name: String, after error: StorageError, creating: Bool
    ) throws -> SQLiteRecords.Replacement {
        guard error.mayMeanReplacedFile else { return .same }
        return try state.withLock { state in
            if let engine = state.engine, collection.isInFile(of: engine) {
                guard try error.code == .placeRemoved || isMissing else { return .same }
                try close(&state)
            }
            return try open(name, creating: creating, &state).map { .other($0) } ?? .absent
        }
    }

    /// Closes a file that was removed or replaced. It must not stay open when the new file is opened, because the two
    /// would share the companion files at the path.
    private func close(_ state: inout State) throws {
        guard let engine = state.engine else { return }
        codableStoreLogger.notice(
            "A database was removed or replaced while it was open. Reopening…",
            metadata: ["file": "\(file.path)"]
        )
        // If closing fails, the next operation tries again.
        try SQLiteCollection(of: engine).closeFile()
        state.engine = nil
    }

    private var isMissing: Bool {
        get throws { try !FileSystem.exists(atPath: file.path) }
    }
}
