import Bodega
import BodegaRemote
import BodegaSync
import Foundation

#if Postgres
import BodegaPostgres
#endif

/// An open store.
struct OpenStore: Sendable {
    let address: StorageAddress
    /// The engine that holds the bytes.
    var base: any StorageBackend
    /// The engine with the items: the same, or one that decrypts them.
    var engine: any StorageBackend
    /// How the items are encrypted, `nil` if they are not or if no keyset was given.
    var encryption: StoreEncryption?
    /// The engine, if it is SQLite's.
    let sqlite: SQLiteStorageEngine?
    /// Whether it was opened for reading only.
    let isReadOnly: Bool

    fileprivate init(address: StorageAddress, engine: any StorageEngine, isReadOnly: Bool) {
        (self.address, base, self.engine) = (address, engine.backend, engine.backend)
        sqlite = engine as? SQLiteStorageEngine
        self.isReadOnly = isReadOnly
    }
}

extension StorageAddress {

    /// Opens an existing store for reading. No file is created or changed.
    ///
    /// - Parameter token: The token for a server.
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    func openToRead(token: ServerToken? = nil) async throws -> OpenStore {
        try await opened(token, mustExist: true, isReadOnly: true) { try openForReading() }
    }

    /// Opens an existing store for writing. A missing store is not created.
    ///
    /// - Parameter token: The token for a server.
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    func openExisting(token: ServerToken? = nil) async throws -> OpenStore {
        try await opened(token, mustExist: true, isReadOnly: false) { try open(mustExist: true) }
    }

    /// Opens an existing store for a server, which has many clients at the same time. In a database, the server creates
    /// the tables and collections that it needs itself.
    ///
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    func openToServe() async throws -> OpenStore {
        guard engine == .postgres else { return try await openExisting() }
        // A collection with a name that was misspelled is not created.
        if collection != nil { try await openExisting().use { _ in } }
        let engine = try await connected(mustExist: false, isSequential: false)
        return OpenStore(address: self, engine: engine, isReadOnly: false)
    }

    /// Opens a store for writing, and creates it if it is missing and is not on a server.
    ///
    /// - Parameters:
    ///   - token: The token for a server.
    ///   - onProgress: Called while much is sent to a server or received from it.
    /// - Throws: A ``ToolError`` if the path holds anything but a store, a `StorageError` if it can't be opened.
    func openOrCreate(
        token: ServerToken? = nil, onProgress: (@Sendable () -> Void)? = nil
    ) async throws -> OpenStore {
        try await opened(token, mustExist: false, isReadOnly: false, onProgress) { try open() }
    }

    private func opened(
        _ token: ServerToken?,
        mustExist: Bool,
        isReadOnly: Bool,
        _ onProgress: (@Sendable () -> Void)? = nil,
        _ open: () throws -> any StorageEngine
    ) async throws -> OpenStore {
        if self.engine == .postgres {
            let engine = try await connected(mustExist: mustExist)
            return OpenStore(address: self, engine: engine, isReadOnly: isReadOnly)
        }
        if self.engine == .server {
            return OpenStore(
                address: self, engine: try await reached(with: token, onProgress), isReadOnly: isReadOnly)
        }
        do {
            try check(mustExist: mustExist)
            try checkIsNoDatabaseFolder()
        } catch let error as StorageError where error.code == .cannotOpen && error.file == nil {
            throw ToolError(.failure, error.message)
        }
        let store = OpenStore(address: self, engine: try open(), isReadOnly: isReadOnly)
        return isReadOnly ? store : try await store.notingChanges()
    }

    /// Checks that a folder does not contain an SQLite database, whose files would be mistaken for items.
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
            "\(path) is a folder with an SQLite database, not a folder of items. Write \(addresses).")
    }

    /// Reaches a collection of a server.
    private func reached(
        with token: ServerToken?, _ onProgress: (@Sendable () -> Void)?
    ) async throws -> any StorageEngine {
        var options = RemoteStorageOptions()
        options.onProgress = onProgress
        do {
            return try await RemoteStorageEngine(self, options: options) { token?.text }
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        } catch var error as StorageError {
            if error.code == .unauthorized, token == nil {
                error.message = "\(error.message.sentence) Give it with BODEGA_TOKEN or --token-file FILE."
            }
            error.message += " \(self)"
            throw error
        }
    }

    /// Connects to a database.
    ///
    /// - Parameters:
    ///   - mustExist: Whether its tables and the collection must exist.
    ///   - isSequential: Whether there is one operation after another.
    private func connected(mustExist: Bool, isSequential: Bool = true) async throws -> any StorageEngine {
        #if Postgres
        var options = PostgresDatabase.Options(mustExist: mustExist)
        if isSequential { options.maximumConnections = 2 }
        do {
            return try await PostgresStorageEngine(self, options: options)
        } catch let error as StorageError where error.code == .invalidArgument {
            throw ToolError(.usage, error.message)
        }
        #else
        throw ToolError(
            .usage,
            """
            This program was built without PostgreSQL. Build it with PostgreSQL: swift build --configuration release \
            --traits CommandLineTool,Postgres --product bodega
            """)
        #endif
    }
}

extension OpenStore {
    /// The names of the collections other than the unnamed one, and those of what synchronization and servers store for
    /// themselves; `nil` for an engine that has no collections.
    func collectionNames() async throws -> [String]? {
        try await allCollectionNames()?.filter { !$0.hasPrefix(LocalOutbox.reservedPrefix) }
    }

    private func allCollectionNames() async throws -> [String]? {
        if let sqlite { return try await sqlite.collectionNames() }
        #if Postgres
        if let postgres = base as? PostgresStorageEngine {
            return try await postgres.database.collectionNames().filter {
                $0 != PostgresStorageEngine.unnamedCollection
            }
        }
        #endif
        return nil
    }

    /// The names that can't be those of collections on a server: there, `_` is the collection without a name, and
    /// clients take the others for parts of a path.
    static let namesWithoutCollection: Set = ["_", ".", ".."]

    /// Notes that the file or database has more collections than the one that a command works on.
    ///
    /// - Parameter verb: The participle for what the command does, such as "copied".
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
    func collection(named name: String) async throws -> any StorageBackend {
        let collection = try await baseCollection(named: name)
        return encryption?.decrypting(collection, named: name) ?? collection
    }

    /// Reads the unnamed collection of the same file or database.
    ///
    /// - Returns: The result of the closure, `nil` if a database has no such collection.
    func unnamedCollection<Result>(_ body: (any StorageBackend) async throws -> Result) async throws -> Result? {
        if address.collection == nil { return try await body(base) }
        if base is RemoteStorageEngine { return try await body(try await baseCollection(named: "")) }
        #if Postgres
        if let postgres = base as? PostgresStorageEngine {
            let name = PostgresStorageEngine.unnamedCollection
            guard try await postgres.database.collectionNames().contains(name) else { return nil }
            return try await body(postgres.collection(named: name))
        }
        #endif
        return try await StorageAddress.sqlite(address.path).openToRead().use { try await body($0.base) }
    }

    /// Reads a collection of the same file or database.
    ///
    /// - Parameters:
    ///   - name: The collection's name, the empty one for that without a name.
    ///   - body: Reads it. It is not called if there is no such collection.
    /// - Throws: `cannotOpen` if there is no such collection on a server for the client.
    func withCollection(named name: String, _ body: (any StorageBackend) async throws -> Void) async throws {
        if name.isEmpty {
            _ = try await unnamedCollection(body)
        } else if name == address.collection {
            try await body(engine)
        } else if base is RemoteStorageEngine {
            try await body(try await collection(named: name))
        } else if try await allCollectionNames()?.contains(where: { ExactText($0) == ExactText(name) }) ?? false {
            try await body(try await collection(named: name))
        }
    }

    /// Another collection of the same file or database, as it is stored.
    func baseCollection(named name: String) async throws -> any StorageBackend {
        #if Postgres
        if let postgres = base as? PostgresStorageEngine { return try await postgres.collection(named: name) }
        #endif
        if let remote = base as? RemoteStorageEngine {
            return try await remote.server.collection(
                named: name.isEmpty ? RemoteStorageEngine.unnamedCollection : name)
        }
        return try sqlite?.collection(named: name) ?? base
    }
}

extension OpenStore {
    /// Uses the store and closes it, also on failure, so that no temporary files are left when the program ends.
    ///
    /// - Parameter body: Uses the store; it must not keep a reference to it.
    /// - Throws: The error of the body, else a `StorageError` if the store can't be closed.
    func use<Result>(_ body: (OpenStore) async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body(self)
        } catch {
            // The error of the body takes precedence over an error in closing the store.
            do { try await close() } catch {}
            throw try explained(error)
        }
        try await close()
        return result
    }

    /// Replaces an error that an unfinished batch caused by one that names the command that finishes the batch.
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

    /// Closes the store.
    func close() async throws {
        if let sqlite { return try await sqlite.close() }
        #if Postgres
        if let postgres = base as? PostgresStorageEngine { return await postgres.close() }
        #endif
        // A folder is tidied up when its core is released. Another thread may still hold the engine's core when the
        // program ends. This one is released here.
        if !isReadOnly, let folder = address.fileURL { _ = DiskFolder(url: folder, durability: .full) }
    }
}
