import Bodega
import Foundation
import Logging

/// An SQLite file that this module opens, and its open collections.
///
/// The file can be removed or replaced while it is open. Objects saved to the open file would then be lost.
///
/// 1. An operation fails because the file was removed, replaced, or closed.
/// 2. ``SQLiteRecords`` asks for a replacement of its collection.
/// 3. The first request closes the open engine, unless that has been done, and opens the file at the path, or creates
///    it. Later requests get a collection of that engine.
/// 4. The collections and their observers stay.
///
/// The lock of `state` guards the engine and the collections. Each file has its own, so a file that is slow to open
/// does not block the others.
final class SQLitePlace: Sendable {

    private struct State: Sendable {
        var engine: SQLiteStorageEngine?
        var cores: [String: CollectionCore] = [:]
    }

    private let file: URL
    private let state = Locked(State())

    /// - Parameter file: The file. It is opened when a collection is requested.
    init(_ file: URL) {
        self.file = file
    }

    /// Returns a collection, and opens it if necessary.
    func core(_ name: String) throws -> CollectionCore {
        try state.withLock { state in
            if let core = state.cores[name] { return core }
            let records = SQLiteRecords(try open(name, &state)) { [weak self] in
                try self?.replacement(of: $0, name, after: $1)
            }
            let core = CollectionCore(records)
            state.cores[name] = core
            return core
        }
    }

    private func open(_ name: String, _ state: inout State) throws -> SQLiteCollection {
        if state.engine != nil, isMissing { try close(&state) }
        let engine =
            try state.engine?.collection(named: name) ?? SQLiteStorageEngine(openingFile: file, collection: name)
        state.engine = engine
        return SQLiteCollection(of: engine)
    }

    /// Returns the collection to use instead of one that has failed, or `nil` if the file is still in its place.
    private func replacement(
        of collection: SQLiteCollection,
        _ name: String,
        after error: StorageError
    ) throws -> SQLiteCollection? {
        guard error.mayMeanReplacedFile else { return nil }
        return try state.withLock { state in
            if let engine = state.engine, SQLiteCollection(of: engine).isInFile(of: collection) {
                guard error.code == .placeRemoved || isMissing else { return nil }
                try close(&state)
            }
            return try open(name, &state)
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

    private var isMissing: Bool { !FileManager.default.fileExists(atPath: file.path) }
}
