package import Bodega
import Foundation

#if Postgres
import BodegaPostgres
#endif

/// A store that is open.
package struct OpenStore: Sendable {
    /// Where it is.
    package let address: StorageAddress
    /// The engine.
    package let engine: any StorageEngine
    /// The engine, if it is SQLite's.
    package let sqlite: SQLiteStorageEngine?
    /// Whether it is only read, and everything stays as it is.
    package let isReadOnly: Bool
}

extension StorageAddress {

    /// Opens a store that must be there to read it. Nothing is created or changed, neither in it nor beside it.
    ///
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    package func openToRead() async throws -> OpenStore {
        try await opened(mustExist: true, isReadOnly: true) { try openForReading() }
    }

    /// Opens a store that must be there to change it. What is missing stays missing.
    ///
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    package func openExisting() async throws -> OpenStore {
        try await opened(mustExist: true, isReadOnly: false) { try open(mustExist: true) }
    }

    /// Opens the store to write to it; creates what is missing.
    ///
    /// - Throws: A ``ToolError`` if there is something that is no store, a `StorageError` if it can't be opened.
    package func openOrCreate() async throws -> OpenStore {
        try await opened(mustExist: false, isReadOnly: false) { try open() }
    }

    private func opened(
        mustExist: Bool,
        isReadOnly: Bool,
        _ open: () throws -> any StorageEngine
    ) async throws -> OpenStore {
        if self.engine == .postgres {
            let engine = try await connected(mustExist: mustExist)
            return OpenStore(address: self, engine: engine, sqlite: nil, isReadOnly: isReadOnly)
        }
        do {
            try check(mustExist: mustExist)
            try checkIsNoDatabaseFolder()
        } catch let error as StorageError where error.code == .cannotOpen && error.file == nil {
            throw ToolError(.failure, error.message)
        }
        let engine = try open()
        let sqlite = engine as? SQLiteStorageEngine
        return OpenStore(address: self, engine: engine, sqlite: sqlite, isReadOnly: isReadOnly)
    }

    /// Makes sure that a folder is not one that an SQLite database is in, whose files would be taken for items.
    ///
    /// - Throws: A ``ToolError`` that names the address of the database.
    func checkIsNoDatabaseFolder() throws {
        guard engine == .disk, try StoreNature(ofPath: path) == .folder else { return }
        let databases = try DiskFolder.databases(inFolder: path)
        if databases.isEmpty { return }
        let folder = path.hasSuffix("/") ? path : path + "/"
        let addresses = databases.prefix(3).map { "\(StorageAddress.sqlite(folder + $0))" }.joined(separator: " or ")
        throw ToolError(
            .failure,
            "\(path) is the folder of an SQLite database, and its files are not items. Write \(addresses).")
    }

    /// Connects to a database.
    private func connected(mustExist: Bool) async throws -> any StorageEngine {
        #if Postgres
        // The tool does one thing after the other.
        let options = PostgresDatabase.Options(maximumConnections: 2, mustExist: mustExist)
        do {
            return try await PostgresStorageEngine(self, options: options)
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        }
        #else
        throw ToolError(
            .usage,
            """
            This program was built without PostgreSQL. Build one with it: swift build --configuration release \
            --traits CommandLineTool,Postgres --product bodega
            """
        )
        #endif
    }
}

extension OpenStore {
    /// The names of the collections beside the unnamed one; `nil` for an engine that has no collections.
    package func collectionNames() async throws -> [String]? {
        if let sqlite { return try await sqlite.collectionNames() }
        #if Postgres
        if let postgres = engine as? PostgresStorageEngine {
            return try await postgres.database.collectionNames().filter {
                $0 != PostgresStorageEngine.unnamedCollection
            }
        }
        #endif
        return nil
    }

    /// Tells the user that the file or database has more than the collection that a command works on.
    ///
    /// - Parameters:
    ///   - verb: What the command does with the one collection and not with the others, such as "copied".
    ///   - console: Where it is told.
    func noteOtherCollections(_ verb: String, on console: Console) async throws {
        let others = try await collectionNames()?.filter { $0 != address.collection } ?? []
        if others.isEmpty { return }
        let names = others.map { "\"\($0)\"" }.joined(separator: ", ")
        let place = sqlite == nil ? "database" : "file"
        console.complain("note: the \(place) also has the collections \(names), which are not \(verb).")
    }

    /// Another collection of the same file or database.
    ///
    /// - Throws: A `StorageError` if it can't be opened.
    package func collection(named name: String) async throws -> any StorageEngine {
        #if Postgres
        if let postgres = engine as? PostgresStorageEngine { return try await postgres.collection(named: name) }
        #endif
        return try sqlite?.collection(named: name) ?? engine
    }
}

extension OpenStore {
    /// Uses the store, and closes it also if that fails, so that nothing but the store stays behind when the program
    /// ends.
    ///
    /// - Parameter body: Uses the store, which it must not keep.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws; else a `StorageError` if the store can't be closed.
    package func use<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body(self)
        } catch {
            // Why the body failed is what the user has to know, whether the store can be closed or not.
            do { try await close() } catch {}
            throw try explained(error)
        }
        try await close()
        return result
    }

    /// The error to show: one that names the command that helps if a stopped program left a batch half done.
    private func explained(_ error: any Error) throws -> any Error {
        guard isReadOnly, address.engine == .disk, let failure = error as? StorageError, failure.code == .cannotOpen,
            try DiskFolder.hasCommittedBatch(inFolder: address.path)
        else { return error }
        return ToolError.unfinishedBatch(in: address)
    }

    /// Listens for signals while a command changes a folder, so that a batch is finished before the process ends.
    ///
    /// Only a second signal ends the process. Changes of SQLite files and databases are atomic in any case.
    func finishBatch(beforeEndingBy interruption: Interruption) {
        if address.engine == .disk { interruption.listen() }
    }

    private func close() async throws {
        if let sqlite { return try await sqlite.close() }
        #if Postgres
        if let postgres = engine as? PostgresStorageEngine { return await postgres.database.finish() }
        #endif
        // A folder is tidied up when its core is released. That of the engine may outlive the last operation, on
        // another thread, and so not be released before the program ends. This one is released here.
        if !isReadOnly, let folder = address.url { _ = DiskFolder(url: folder, durability: .full) }
    }
}
