import Foundation
import GRDB

/// Another program that uses an SQLite file.
enum SQLiteTool {
    /// Runs statements on a file.
    static func run(_ sql: String, on file: String) throws {
        let queue = try DatabaseQueue(path: file)
        try queue.write { db in try db.execute(sql: sql) }
        try queue.close()
    }
}
