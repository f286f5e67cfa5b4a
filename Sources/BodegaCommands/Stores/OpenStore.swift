package import Bodega
import Foundation

/// A store that is open.
package struct OpenStore: Sendable {
    /// Where it is.
    package let address: StoreAddress
    /// The name of the collection in an SQLite file, `nil` for the unnamed one.
    package let collection: String?
    /// The engine.
    package let engine: any StorageEngine
    /// The engine, if it is SQLite's.
    package let sqlite: SQLiteStorageEngine?
}

extension StoreAddress {

    /// Opens a store that must be there. What is missing stays missing.
    ///
    /// That doesn't mean that nothing is written: an SQLite file of Bodega 2 gets WAL mode and a column, also if it is
    /// opened only to read it. Bodega 2 can use it all the same. So the file and its folder must be writable.
    ///
    /// - Parameter collection: The collection in an SQLite file, `nil` for the unnamed one.
    /// - Throws: A ``ToolError`` if the store does not exist, a `StorageError` if it or the collection can't be opened.
    package func openExisting(collection: String? = nil) throws -> OpenStore {
        switch (engine, try FileNature(ofPath: path)) {
        case (_, .missing):
            throw ToolError(.failure, "There is no store at \(path).")
        case (.sqlite, .folder):
            throw ToolError(.failure, "\(path) is a folder, not an SQLite file. Write disk:\(path).")
        case (.sqlite, .empty), (.sqlite, .otherFile):
            // Opening would turn an empty file into a database.
            throw ToolError(.failure, "\(path) is not an SQLite file.")
        case (.disk, .sqlite), (.disk, .empty), (.disk, .otherFile):
            throw ToolError(.failure, "\(path) is a file, not a folder.")
        case (.sqlite, .sqlite), (.disk, .folder):
            break
        }
        if engine == .sqlite {
            let engine = try SQLiteStorageEngine(openingFile: url, collection: collection, mustExist: true)
            return OpenStore(sqlite: engine, at: self, collection: collection)
        }
        return try open(collection: collection)
    }

    /// Opens the store to write to it; creates what is missing.
    ///
    /// - Parameter collection: The collection in an SQLite file, `nil` for the unnamed one.
    /// - Throws: A ``ToolError`` if the store can't have collections, a `StorageError` if it can't be opened.
    package func open(collection: String? = nil) throws -> OpenStore {
        switch engine {
        case .sqlite:
            let engine = try SQLiteStorageEngine(openingFile: url, collection: collection)
            return OpenStore(sqlite: engine, at: self, collection: collection)
        case .disk:
            guard collection == nil else {
                throw ToolError(.usage, "--collection is for SQLite files; a folder is one collection.")
            }
            let engine = try DiskStorageEngine(opening: FileManager.Directory(url: url))
            return OpenStore(address: self, collection: nil, engine: engine, sqlite: nil)
        }
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
            throw error
        }
        try await close()
        return result
    }

    private func close() async throws {
        if let sqlite { return try await sqlite.close() }
        // A folder is tidied up when its core is released. That of the engine may outlive the last operation, on
        // another thread, and so not be released before the program ends. This one is released here.
        _ = DiskFolder(url: address.url, durability: .full)
    }

    fileprivate init(sqlite: SQLiteStorageEngine, at address: StoreAddress, collection: String?) {
        self.init(address: address, collection: collection, engine: sqlite, sqlite: sqlite)
    }
}
