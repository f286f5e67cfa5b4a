import Bodega
import TestSupport

/// A database with named collections.
enum DatabaseKind: String, CaseIterable, Sendable {
    case memory, sqlite

    /// Returns a function that opens collections of a new database.
    func open(in folder: TemporaryFolder) throws -> @Sendable (String) throws -> any StorageBackend {
        switch self {
        case .memory:
            let engine = MemoryStorageEngine()
            return { engine.collection(named: $0) }
        case .sqlite:
            let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
            return { try engine.collection(named: $0) }
        }
    }
}
