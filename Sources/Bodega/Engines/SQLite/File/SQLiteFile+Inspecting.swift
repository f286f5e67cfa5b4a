import CSQLiteConfiguration
import Foundation
import GRDB

extension SQLiteFile {

    /// Checks that a file exists.
    ///
    /// - Throws: ``StorageError/Code/cannotOpen`` if it doesn't, and another error if that can't be determined.
    static func checkExistence(of file: URL) throws {
        if try !FileSystem.exists(atPath: file.path) {
            throw StorageError(.cannotOpen, "There is no such file.", file: file)
        }
    }

    /// Checks a file through the connection that is to write to it, before any change: a database stays unchanged if
    /// another program has a table of the same name in it, or if it lacks a collection that must exist.
    struct Inspection: Sendable {
        /// The collection's name, `nil` for the unnamed one.
        var collection: String?
        /// Whether the file and the collection must exist.
        var mustExist = false

        /// Checks that the file exists, if it must.
        ///
        /// - Throws: ``StorageError/Code/cannotOpen`` if it doesn't.
        func checkExistence(of file: URL) throws {
            if mustExist { try SQLiteFile.checkExistence(of: file) }
        }

        /// Checks that the file may be used.
        ///
        /// - Returns: The state of the unnamed collection's table, `nil` for another collection.
        /// - Throws: ``StorageError/Code/cannotOpen`` if not. The WAL keeps its contents.
        func check(_ db: Database) throws -> SQLiteTable.Condition? {
            do {
                let standardTable = collection == nil ? try SQLiteTable.standard.condition(in: db) : nil
                if try !exists(standardTable, in: db), mustExist {
                    let what = collection.map { "collection \"\($0)\"" } ?? "unnamed collection"
                    throw StorageError(.cannotOpen, "The database has no \(what).")
                }
                return standardTable
            } catch let error as StorageError {
                if let connection = db.sqliteConnection { emporium_sqlite_keep_log(connection) }
                throw error
            }
        }

        private func exists(_ standardTable: SQLiteTable.Condition?, in db: Database) throws -> Bool {
            guard let collection else {
                // A file may have named collections only.
                return try standardTable != .missing || !SQLiteCollections.names(in: db).isEmpty
            }
            return try SQLiteCollections.table(of: collection, in: db)?.exists(in: db) ?? false
        }
    }
}
