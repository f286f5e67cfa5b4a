import Bodega
import Foundation
import GRDBSQLite

extension CDatabase {

    /// Writes items with one prepared statement.
    final class Writer {
        private let database: CDatabase
        private let upsert: CStatement
        private let begin: CStatement
        private let commit: CStatement

        init(_ database: CDatabase) throws {
            self.database = database
            upsert = try CStatement(
                database,
                """
                INSERT INTO data (key, value, createdAt, updatedAt, kind) VALUES (?1, ?2, ?3, ?3, ?4)
                ON CONFLICT (key) DO UPDATE
                SET value = excluded.value, updatedAt = excluded.updatedAt, kind = excluded.kind
                WHERE kind IS NULL OR kind = excluded.kind
                """
            )
            begin = try CStatement(database, "BEGIN IMMEDIATE")
            commit = try CStatement(database, "COMMIT")
        }

        /// Writes items in one transaction. They all get the same date.
        func write(_ items: [(key: CacheKey, data: Data)]) throws {
            try run(begin)
            try bindDate()
            for item in items { try run(item.key.rawValue, item.data) }
            try run(commit)
        }

        /// Writes an item in a transaction of its own.
        func write(_ data: Data, key: String) throws {
            try bindDate()
            try run(key, data)
        }

        private func bindDate() throws {
            let date = Date().formatted(.sqlite)
            // SQLite copies the text (the destructor -1), because the statement outlives this call.
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            try database.check(sqlite3_bind_text(upsert.pointer, 3, date, CInt(date.utf8.count), transient))
            try database.check(sqlite3_bind_int(upsert.pointer, 4, 0))
        }

        private func run(_ key: String, _ data: Data) throws {
            var key = key
            try key.withUTF8 { key in
                try data.withUnsafeBytes { data in
                    try key.withMemoryRebound(to: CChar.self) { key in
                        let code = sqlite3_bind_text(upsert.pointer, 1, key.baseAddress, CInt(key.count), nil)
                        try database.check(code)
                    }
                    try database.check(
                        sqlite3_bind_blob(upsert.pointer, 2, data.baseAddress, CInt(data.count), nil)
                    )
                    try run(upsert)
                }
            }
        }

        private func run(_ statement: CStatement) throws {
            try database.check(sqlite3_step(statement.pointer), is: SQLITE_DONE)
            try database.check(sqlite3_reset(statement.pointer))
        }
    }
}

extension FormatStyle where Self == Date.VerbatimFormatStyle {
    /// The format of dates in the table: UTC, to the millisecond.
    fileprivate static var sqlite: Self {
        Date.VerbatimFormatStyle(
            format: """
                \(year: .padded(4))-\(month: .twoDigits)-\(day: .twoDigits)T\
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\
                \(minute: .twoDigits):\(second: .twoDigits).\(secondFraction: .fractional(3))
                """,
            locale: Locale(identifier: "en_US_POSIX"),
            timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian)
        )
    }
}
