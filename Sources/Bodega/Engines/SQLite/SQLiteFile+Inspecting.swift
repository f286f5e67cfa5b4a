import Foundation
import GRDB
import Logging

extension SQLiteFile {

    /// Looks into a file before it is opened, because opening changes it: nothing is done to a database in which another
    /// program has a table of the same name, or, if the collection must exist, in which it does not.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - collection: The collection's name, `nil` for the unnamed one.
    ///   - mustExist: Whether the file and the collection must be there.
    ///   - lockTimeout: How long, in seconds, to wait for a lock that another program holds.
    /// - Throws: ``StorageError/Code/cannotOpen`` if it must not be opened.
    static func inspect(_ url: URL, _ collection: String?, mustExist: Bool, lockTimeout: TimeInterval) throws {
        guard FileManager.default.fileExists(atPath: url.path) else {
            if mustExist { throw StorageError(.cannotOpen, "There is no such file.", file: url) }
            return
        }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(limited(lockTimeout))
            func look() throws -> Bool {
                let queue = try DatabaseQueue(path: url.path, configuration: configuration)
                return try queue.read { db in try has(collection, in: db) }
            }
            let isThere: Bool
            do {
                isThere = try look()
            } catch let error as DatabaseError where mustExist && error.resultCode == .SQLITE_READONLY {
                // What a program has left that was stopped in the midst of a write is undone before anybody can read.
                configuration.readonly = false
                isThere = try look()
            }
            if mustExist, !isThere {
                let what = collection.map { "collection \"\($0)\"" } ?? "unnamed collection"
                throw StorageError(.cannotOpen, "The database has no \(what).", file: url)
            }
        } catch let error as DatabaseError where !mustExist {
            // Some files must be written to before they can be read, after a crash for one. Opening will say what it is.
            bodegaLogger.debug(
                "A file could not be looked into.", metadata: ["file": "\(url.path)", "error": "\(error)"])
        } catch {
            throw failure(error, toOpen: url)
        }
    }

    private static func has(_ collection: String?, in db: Database) throws -> Bool {
        guard let collection else {
            // A file of ours may have named collections only.
            return try SQLiteTable.standard.exists(in: db) || !SQLiteCollections.names(in: db).isEmpty
        }
        return try SQLiteCollections.table(of: collection, in: db)?.exists(in: db) ?? false
    }
}
