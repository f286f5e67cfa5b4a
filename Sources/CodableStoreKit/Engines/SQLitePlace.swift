import Bodega
import Foundation
import Logging

/// An SQLite file at a place of its own, with the collections that are open in it. Each file has a lock of its own, so that
/// one that is slow to open holds up nobody else.
///
/// When somebody has removed or replaced the file, what is open has no name any more, and nobody would find what is saved
/// there. Then it is closed, and the file at the place opened instead, or made anew; the collections and their observers
/// stay.
final class SQLitePlace: Sendable {

    private struct State: Sendable {
        var engine: SQLiteStorageEngine?
        var cores: [String: CollectionCore] = [:]
    }

    private let file: URL
    private let state = Locked(State())

    /// Names a file without touching it.
    init(_ file: URL) {
        self.file = file
    }

    /// A collection, opened if it isn't.
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

    /// The collection to use instead of one that has failed, if that is because the file is not in its place any more.
    private func replacement(
        of collection: SQLiteCollection,
        _ name: String,
        after error: StorageError
    ) throws -> SQLiteCollection? {
        // A new connection finds nothing to open, and what another thread has closed can't be used.
        guard error.code == .placeRemoved || error.code == .cannotOpen else { return nil }
        return try state.withLock { state in
            if let engine = state.engine, SQLiteCollection(of: engine).isInFile(of: collection) {
                guard error.code == .placeRemoved || isMissing else { return nil }
                try close(&state)
            }
            return try open(name, &state)
        }
    }

    /// Closes what has no name any more. It must not be open beside a new file: the two would share what lies beside the file.
    private func close(_ state: inout State) throws {
        guard let engine = state.engine else { return }
        codableStoreLogger.notice(
            "A database was removed or replaced while it was open. It is opened anew.",
            metadata: ["file": "\(file.path)"]
        )
        // If that fails, it is tried again with the next operation.
        try SQLiteCollection(of: engine).closeFile()
        state.engine = nil
    }

    private var isMissing: Bool { !FileManager.default.fileExists(atPath: file.path) }
}
