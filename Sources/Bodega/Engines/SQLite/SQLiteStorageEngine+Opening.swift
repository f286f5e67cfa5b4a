public import Foundation
import Logging

extension SQLiteStorageEngine {

    /// Opens a database file in a folder; creates both if they are missing.
    ///
    /// If that fails, this logs the error and returns `nil`.
    /// ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)`` throws the error instead.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - filename: The file's name without the extension, which is `sqlite3`.
    public convenience init?(directory: FileManager.Directory, databaseFilename filename: String = "data") {
        do {
            try self.init(opening: directory, databaseFilename: filename)
        } catch {
            bodegaLogger.error("A database could not be opened.", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Opens a database file in a folder; creates both if they are missing.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - filename: The file's name without the extension, which is `sqlite3`.
    ///   - collection: The collection in the file, `nil` for the unnamed one, which is the one that Bodega 2 knows.
    ///   - durability: What a finished write survives.
    ///   - lockTimeout: How long, in seconds, an operation waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    ///   - now: Returns the current time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the file could not be opened. The file is then unchanged.
    public convenience init(
        opening directory: FileManager.Directory,
        databaseFilename filename: String = "data",
        collection: String? = nil,
        durability: StorageDurability = .full,
        lockTimeout: TimeInterval = 30,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        let file = directory.url.appendingPathComponent(filename, isDirectory: false)
        try self.init(
            openingFile: file.appendingPathExtension("sqlite3"),
            collection: collection,
            durability: durability,
            lockTimeout: lockTimeout,
            now: now
        )
    }

    /// Opens a database file by its path; creates it and its folder if they are missing, unless they must exist.
    ///
    /// - Parameters:
    ///   - file: The location of the file, with its extension.
    ///   - collection: The collection in the file, `nil` for the unnamed one, which is the one that Bodega 2 knows.
    ///   - mustExist: Whether the file and the collection must exist already. If they don't, nothing is created or
    ///     changed, not even in a database of another program; but SQLite rolls back the write of a program that was
    ///     stopped, as it does whenever a database is opened.
    ///   - durability: What a finished write survives.
    ///   - lockTimeout: How long, in seconds, an operation waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    ///   - now: Returns the current time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the file could not be opened. The file is then unchanged.
    public convenience init(
        openingFile file: URL,
        collection: String? = nil,
        mustExist: Bool = false,
        durability: StorageDurability = .full,
        lockTimeout: TimeInterval = 30,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        let inspection = SQLiteFile.Inspection(collection: collection, mustExist: mustExist)
        let core = try SQLiteFile(url: file, durability: durability, lockTimeout: lockTimeout, inspection)
        let table = try collection.map(core.table(ofCollection:)) ?? .standard
        self.init(core: core, table: table, now: now)
    }

    /// Opens a database file for reading only: nothing is created or changed, neither in the file nor beside it.
    ///
    /// This works on read-only volumes and in read-only folders, and while other programs write: each read sees all
    /// committed changes. A file of Bodega 2 is read in its own layout. Writing throws ``StorageError/Code/readOnly``.
    ///
    /// - Commits that a crashed process has left in the file's WAL are read as well. If it was writing with a journal,
    ///   as Bodega 2 does, the file must be opened for writing once before it can be read.
    /// - Reads take turns, and open the file again when other programs begin to use it.
    /// - While this engine is open, programs that write leave their WAL beside the file when they exit. Nothing is
    ///   lost, and the next program removes it.
    /// - Other engines in this process may write to the file.
    ///
    /// - Parameters:
    ///   - file: The location of the file, with its extension.
    ///   - collection: The collection in the file, `nil` for the unnamed one.
    ///   - lockTimeout: How long, in seconds, a read waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    /// - Throws: A ``StorageError`` if the file or the collection doesn't exist or could not be read.
    public convenience init(
        readingFile file: URL,
        collection: String? = nil,
        lockTimeout: TimeInterval = 30
    ) throws {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw StorageError(.cannotOpen, "There is no such file.", file: file)
        }
        let core = SQLiteFile(reading: file, lockTimeout: lockTimeout)
        let table = try collection.map(core.table(ofCollection:)) ?? .standard
        try core.mapped {
            let exists = try core.readManyHere(table.exists)
            if exists { return }
            let names = try core.readManyHere(SQLiteCollections.names).map { "\"\($0)\"" }.joined(separator: ", ")
            let others = names.isEmpty ? "" : " Name one of its collections: \(names)."
            throw StorageError(.cannotOpen, "The database has no unnamed collection.\(others)")
        }
        self.init(core: core, table: table, now: { Date() })
    }

    /// The engine on the file `data.sqlite3` in the program's default folder.
    ///
    /// Each access opens the file again, so keep the engine. Where programs share the folder for their data, as on
    /// Linux and macOS, the file is in a folder named after the program.
    ///
    /// The program ends if the file cannot be opened; use
    /// ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)`` to handle that.
    public static var `default`: SQLiteStorageEngine {
        #if canImport(Darwin) && !os(macOS)
        `default`(appendingPath: "")
        #else
        `default`(appendingPath: ProcessInfo.processInfo.processName)
        #endif
    }

    /// The engine on the file `data.sqlite3` in a subfolder of the default folder.
    ///
    /// The program ends if the file cannot be opened; use
    /// ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)`` to handle that.
    ///
    /// - Parameter pathComponent: The path inside of `FileManager.Directory.defaultStorageDirectory(appendingPath:)`.
    public static func `default`(appendingPath pathComponent: String) -> SQLiteStorageEngine {
        do {
            return try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: pathComponent))
        } catch {
            fatalError("The default database could not be opened: \(error)")
        }
    }
}
