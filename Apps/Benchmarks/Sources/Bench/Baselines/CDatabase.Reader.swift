import BenchHarness
import Bodega
import Foundation
import GRDBSQLite

extension CDatabase {

    /// Reads items with prepared statements.
    final class Reader {
        private let database: CDatabase
        private let all: CStatement
        private let one: CStatement

        init(_ database: CDatabase) throws {
            self.database = database
            all = try CStatement(database, "SELECT value FROM data ORDER BY rowid")
            one = try CStatement(database, "SELECT value FROM data WHERE key = ?1")
        }

        /// Reads all values in insertion order.
        func readAll() throws -> [Data] {
            var values: [Data] = []
            while true {
                switch sqlite3_step(all.pointer) {
                case SQLITE_ROW:
                    values.append(value(of: all))
                case SQLITE_DONE:
                    try database.check(sqlite3_reset(all.pointer))
                    return values
                case let code:
                    try database.check(code)
                }
            }
        }

        /// Reads the value of a key.
        func read(key: String) throws -> Data? {
            var key = key
            return try key.withUTF8 { key in
                try key.withMemoryRebound(to: CChar.self) { key in
                    try database.check(sqlite3_bind_text(one.pointer, 1, key.baseAddress, CInt(key.count), nil))
                }
                let code = sqlite3_step(one.pointer)
                let found = code == SQLITE_ROW ? value(of: one) : nil
                if code != SQLITE_ROW { try database.check(code, is: SQLITE_DONE) }
                try database.check(sqlite3_reset(one.pointer))
                return found
            }
        }

        /// Reads the items of many keys in one transaction, so that SQLite locks the file once.
        func read(keys: [CacheKey]) throws -> [(key: CacheKey, data: Data)] {
            var found: [(key: CacheKey, data: Data)] = []
            found.reserveCapacity(keys.count)
            try database.execute("BEGIN")
            for key in keys {
                if let data = try read(key: key.rawValue) { found.append((key, data)) }
            }
            try database.execute("COMMIT")
            return found
        }

        private func value(of statement: CStatement) -> Data {
            let count = Int(sqlite3_column_bytes(statement.pointer, 0))
            // An empty blob has no address.
            guard let bytes = sqlite3_column_blob(statement.pointer, 0) else { return Data() }
            return Data(bytes: bytes, count: count)
        }
    }
}
