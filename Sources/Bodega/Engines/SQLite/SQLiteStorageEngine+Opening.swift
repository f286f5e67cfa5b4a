public import Foundation
import Logging

extension SQLiteStorageEngine {

    /// Opens a database file in a folder; creates both if they are missing.
    ///
    /// It returns `nil` if that fails, and logs why. ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)``
    /// throws the cause instead.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - filename: The file's name; the extension `sqlite3` is added.
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
    ///   - filename: The file's name; the extension `sqlite3` is added.
    ///   - collection: The collection in the file, `nil` for the unnamed one, which is the one that the first Bodega
    ///     knows.
    ///   - durability: What a finished write has survived.
    ///   - lockTimeout: How long, in seconds, an operation waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    ///   - now: Tells the time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the file could not be opened. It was not changed then.
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
    ///   - file: Where the file is, with its extension.
    ///   - collection: The collection in the file, `nil` for the unnamed one, which is the one that the first Bodega
    ///     knows.
    ///   - mustExist: Whether the file and the collection must be there already. If they are not, nothing is created or
    ///     changed, also not in a database of another program; but what a program that was stopped has left half written
    ///     is undone, as by everybody who opens a database.
    ///   - durability: What a finished write has survived.
    ///   - lockTimeout: How long, in seconds, an operation waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    ///   - now: Tells the time, for the dates of the items.
    /// - Throws: A ``StorageError`` if the file could not be opened. It was not changed then.
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
        if collection == nil { try core.prepareStandardTable() }
        let table = try collection.map(core.table(ofCollection:)) ?? .standard
        self.init(core: core, table: table, now: now)
    }

    /// Opens a database file for reading only: nothing is created or changed, neither in the file nor beside it.
    ///
    /// It works on volumes and in folders that can't be written to, and while others write: each read sees what is
    /// committed. A file of the first Bodega is read in the layout that it has. Writing throws
    /// ``StorageError/Code/readOnly``.
    ///
    /// - What a process that crashed has left in the file's log is read as well. A file that it left in the midst of a
    ///   write, with a journal as the first Bodega uses it, must be opened for writing once before it can be read.
    /// - Reads take turns, and open the file anew when others begin to use it.
    /// - While this engine is open, programs that write leave their log beside the file when they end, with nothing
    ///   lost; the next one removes it.
    /// - Others in this process may write to the file through engines of their own.
    ///
    /// - Parameters:
    ///   - file: Where the file is, with its extension.
    ///   - collection: The collection in the file, `nil` for the unnamed one.
    ///   - lockTimeout: How long, in seconds, a read waits for another program before it throws
    ///     ``StorageError/Code/locked``.
    /// - Throws: A ``StorageError`` if there is no such file or collection, or it could not be read.
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
    /// Each use opens the file anew; keep the engine. Where programs share the folder for their data, as on Linux and
    /// macOS, the file lies in a folder named after the program.
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

    /// The engine on the file `data.sqlite3` in a folder below the default folder.
    ///
    /// The program ends if the file cannot be opened; use
    /// ``init(opening:databaseFilename:collection:durability:lockTimeout:now:)`` to handle that.
    ///
    /// - Parameter pathComponent: The path below ``Foundation/FileManager/Directory/defaultStorageDirectory(appendingPath:)``.
    public static func `default`(appendingPath pathComponent: String) -> SQLiteStorageEngine {
        do {
            return try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: pathComponent))
        } catch {
            fatalError("The default database could not be opened: \(error)")
        }
    }
}
