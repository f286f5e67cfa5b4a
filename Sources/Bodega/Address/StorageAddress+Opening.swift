import Foundation

extension StorageAddress {

    /// Opens the store.
    ///
    /// This method does not open PostgreSQL databases and servers; `BodegaPostgres` and `BodegaRemote` do, because this
    /// library does not link libpq, and has no client of HTTP.
    ///
    /// - Parameters:
    ///   - mustExist: Whether opening fails if the store or its collection does not exist, without creating or changing
    ///     anything. A store in memory never exists already.
    ///   - durability: The failures that a finished write survives. Memory ignores it.
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
        case .postgres, .server: throw isElsewhere
        }
    }

    /// Opens an existing store for reading only, without creating or changing anything in it or beside it.
    ///
    /// For details, see ``SQLiteStorageEngine/init(readingFile:collection:lockTimeout:)`` and
    /// ``DiskStorageEngine/init(reading:)``.
    ///
    /// - Returns: The engine. Writing to it throws ``StorageError/Code/readOnly``.
    /// - Throws: A ``StorageError`` whose message says what to do.
    public func openForReading() throws -> any StorageEngine {
        try check(mustExist: true)
        if isRemote { throw isElsewhere }
        let location = try location()
        return engine == .sqlite
            ? try SQLiteStorageEngine(readingFile: location, collection: collection)
            : try DiskStorageEngine(reading: .init(url: location))
    }

    /// Checks that the file or folder at the path can be the store, so that opening never changes anything else.
    ///
    /// - Parameter mustExist: Whether the store must exist already.
    /// - Throws: A ``StorageError`` whose message says what to write instead.
    package func check(mustExist: Bool) throws {
        if engine == .memory {
            if mustExist {
                throw cannotOpen(
                    "A store in memory is empty when it is opened, so there is nothing to read. Name an existing store."
                )
            }
            return
        }
        // Whether the store exists is known only after connecting.
        if isRemote { return }
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
        case (.sqlite, .sqlite), (.disk, .folder), (.memory, _), (.postgres, _), (.server, _):
            break
        }
    }

    private func location() throws -> URL {
        guard let fileURL else { throw cannotOpen("Memory has no path.") }
        return fileURL
    }

    /// Whether the store can be reached by a connection only.
    private var isRemote: Bool { engine == .postgres || engine == .server }

    private var isElsewhere: StorageError {
        if engine == .server {
            return cannotOpen(
                "\(self) is on a server. Import BodegaRemote and open the address with RemoteStorageEngine(address).")
        }
        return cannotOpen(
            """
            \(self) is a PostgreSQL database. Enable the package's trait Postgres, import BodegaPostgres and open the \
            address with PostgresStorageEngine(address).
            """
        )
    }

    private func cannotOpen(_ message: String) -> StorageError {
        StorageError(.cannotOpen, message)
    }
}
