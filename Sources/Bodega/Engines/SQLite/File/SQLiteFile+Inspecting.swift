import CSQLiteConfiguration
import Foundation
import GRDB

extension SQLiteFile {

    /// Looks into a file through the connection that is to write to it, before that changes anything: nothing is done to a
    /// database in which another program has a table of the same name, or, if the collection must exist, in which it does
    /// not.
    struct Inspection: Sendable {
        /// The collection's name, `nil` for the unnamed one.
        var collection: String?
        /// Whether the file and the collection must be there.
        var mustExist = false

        /// Finds out whether there is a file, if there must be.
        ///
        /// - Throws: ``StorageError/Code/cannotOpen`` if there is none.
        func checkExistence(of file: URL) throws {
            if mustExist, !FileManager.default.fileExists(atPath: file.path) {
                throw StorageError(.cannotOpen, "There is no such file.", file: file)
            }
        }

        /// Finds out whether the file may be used.
        ///
        /// - Throws: ``StorageError/Code/cannotOpen`` if not. What another program has left in the log stays there.
        func check(_ db: Database) throws {
            do {
                if try !has(collection, in: db), mustExist {
                    let what = collection.map { "collection \"\($0)\"" } ?? "unnamed collection"
                    throw StorageError(.cannotOpen, "The database has no \(what).")
                }
            } catch let error as StorageError {
                if let connection = db.sqliteConnection { emporium_sqlite_keep_log(connection) }
                throw error
            }
        }

        private func has(_ collection: String?, in db: Database) throws -> Bool {
            guard let collection else {
                // A file of ours may have named collections only.
                return try SQLiteTable.standard.exists(in: db) || !SQLiteCollections.names(in: db).isEmpty
            }
            return try SQLiteCollections.table(of: collection, in: db)?.exists(in: db) ?? false
        }
    }
}
