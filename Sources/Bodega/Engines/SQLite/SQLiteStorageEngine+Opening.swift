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
        let core = SQLiteFile(url: file, durability: durability, lockTimeout: lockTimeout, inspection)
        try core.openIfNeeded()
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
        try SQLiteFile.checkExistence(of: file)
        let core = SQLiteFile(reading: file, lockTimeout: lockTimeout)
        let table = try collection.map(core.table(ofCollection:)) ?? .standard
        try core.mapped {
            let exists = try core.blockingReadMany(table.exists)
            if exists { return }
            let names = try core.blockingReadMany(SQLiteCollections.names).map { "\"\($0)\"" }.joined(separator: ", ")
            let others = names.isEmpty ? "" : " Name one of its collections: \(names)."
            throw StorageError(.cannotOpen, "The database has no unnamed collection.\(others)")
        }
        self.init(core: core, table: table, now: { Date() })
    }

    /// The engine on the file `data.sqlite3` in the program's default folder.
    ///
    /// Each access opens the file again, so keep the engine. The folder is `Data` in
    /// `FileManager.Directory.defaultStorageDirectory(appendingPath:)`, as in Bodega 2. Where programs share the folder
    /// for their data, as on Linux and macOS, it is one named after the program; but a file of Bodega 2 on macOS is
    /// still used.
    ///
    /// If the file can't be opened, the engine is like one of ``default(appendingPath:)``.
    public static var `default`: SQLiteStorageEngine {
        openedOrOpening(in: firstWithDatabase(of: defaultFolders.map { .defaultStorageDirectory(appendingPath: $0) }))
    }

    /// The engine on the file `data.sqlite3` in a subfolder of the default folder.
    ///
    /// Keep the engine: each call opens the file again.
    ///
    /// If the file can't be opened, this logs the error, and each operation of the engine tries again and throws the
    /// error. So a store on it fails to load, and its `reload()` can succeed when the cause is gone.
    /// ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)`` throws the error instead.
    ///
    /// - Parameter pathComponent: The path inside of `FileManager.Directory.defaultStorageDirectory(appendingPath:)`.
    public static func `default`(appendingPath pathComponent: String) -> SQLiteStorageEngine {
        openedOrOpening(in: .defaultStorageDirectory(appendingPath: pathComponent))
    }

    /// An engine on the file `data.sqlite3` in a folder, which is opened now or, if that fails, by the next operation.
    static func openedOrOpening(in directory: FileManager.Directory) -> SQLiteStorageEngine {
        let core = SQLiteFile(
            url: directory.url.appendingPathComponent("data.sqlite3", isDirectory: false),
            durability: .full,
            lockTimeout: 30,
            SQLiteFile.Inspection()
        )
        do {
            try core.openIfNeeded()
        } catch {
            bodegaLogger.error(
                "A database could not be opened. Each operation tries again.", metadata: ["error": "\(error)"])
        }
        return SQLiteStorageEngine(core: core, table: .standard, now: { Date() })
    }

    /// The first folder that contains `data.sqlite3`, or the first one of all.
    static func firstWithDatabase(of directories: [FileManager.Directory]) -> FileManager.Directory {
        let existing = directories.first { directory in
            FileManager.default.fileExists(atPath: directory.url.appendingPathComponent("data.sqlite3").path)
        }
        return existing ?? directories[0]
    }

    /// The subfolders in which the file of the default engine is looked for; the first one is for new files.
    #if os(macOS)
    private static let defaultFolders = [ProcessInfo.processInfo.processName, "Data"]
    #elseif canImport(Darwin)
    private static let defaultFolders = ["Data"]
    #else
    private static let defaultFolders = [ProcessInfo.processInfo.processName]
    #endif
}
