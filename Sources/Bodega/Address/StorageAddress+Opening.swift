import Foundation

extension StorageAddress {

    /// Opens the store.
    ///
    /// A PostgreSQL database is not opened here but by `BodegaPostgres`, because this library is without libpq.
    ///
    /// - Parameters:
    ///   - mustExist: Whether the store must be there already, with its collection. If it is not, nothing is created or
    ///     changed. Memory is never there already.
    ///   - durability: What a finished write has survived. Memory survives nothing.
    /// - Returns: The engine.
    /// - Throws: A ``StorageError`` whose message says what to do.
    public func open(
        mustExist: Bool = false,
        durability: StorageDurability = .full
    ) throws -> any StorageEngine {
        try check(mustExist: mustExist)
        switch engine {
        case .sqlite:
            return try SQLiteStorageEngine(
                openingFile: try location(),
                collection: collection,
                mustExist: mustExist,
                durability: durability
            )
        case .disk:
            return try DiskStorageEngine(opening: .init(url: try location()), durability: durability)
        case .memory: return MemoryStorageEngine()
        case .postgres: throw isDatabase
        }
    }

    /// Opens a store that is there for reading only. Nothing is created or changed, neither in it nor beside it.
    ///
    /// ``SQLiteStorageEngine/init(readingFile:collection:lockTimeout:)`` and ``DiskStorageEngine/init(reading:)`` tell
    /// the rest.
    ///
    /// - Returns: The engine. Writing to it throws ``StorageError/Code/readOnly``.
    /// - Throws: A ``StorageError`` whose message says what to do.
    public func openForReading() throws -> any StorageEngine {
        try check(mustExist: true)
        if engine == .postgres { throw isDatabase }
        let location = try location()
        return engine == .sqlite
            ? try SQLiteStorageEngine(readingFile: location, collection: collection)
            : try DiskStorageEngine(reading: .init(url: location))
    }

    /// Looks whether what is at the path can be the store, so that nothing else is changed by opening it.
    ///
    /// - Parameter mustExist: Whether the store must be there already.
    /// - Throws: A ``StorageError`` whose message says what to write instead.
    package func check(mustExist: Bool) throws {
        if engine == .memory {
            if mustExist { throw cannotOpen("Memory is empty when it is opened, so there is no store to look into.") }
            return
        }
        // What is there only a connection tells.
        if engine == .postgres { return }
        switch (engine, try StoreNature(ofPath: path)) {
        case (_, .missing):
            if mustExist { throw cannotOpen("There is no store at \(path).") }
        case (.sqlite, .folder):
            throw cannotOpen("\(path) is a folder, not an SQLite file. Write disk:\(path).")
        case (.sqlite, .empty):
            // Opening would turn an empty file into a database.
            if mustExist { throw cannotOpen("\(path) is not an SQLite file: it is empty.") }
        case (.sqlite, .other):
            throw cannotOpen("\(path) is not an SQLite file.")
        case (.disk, .sqlite):
            throw cannotOpen("\(path) is a file, not a folder. Write sqlite:\(path).")
        case (.disk, .empty), (.disk, .other):
            throw cannotOpen("\(path) is a file, not a folder.")
        case (.sqlite, .sqlite), (.disk, .folder), (.memory, _), (.postgres, _):
            break
        }
    }

    private func location() throws -> URL {
        guard let url else { throw cannotOpen("Memory has no path.") }
        return url
    }

    private var isDatabase: StorageError {
        cannotOpen(
            """
            \(self) is a PostgreSQL database. Give the package the trait Postgres, import BodegaPostgres and open the \
            address with PostgresStorageEngine(address).
            """
        )
    }

    private func cannotOpen(_ message: String) -> StorageError {
        StorageError(.cannotOpen, message)
    }
}
