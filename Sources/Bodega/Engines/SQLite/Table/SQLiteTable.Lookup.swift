import GRDB

extension SQLiteTable {

    /// Finds the rows of keys. ``SQLiteKey`` describes where they can be.
    struct Lookup {

        /// The statements that find a row, built once for each table.
        struct SQL: Sendable {
            /// For hashed keys, which have only one place.
            let hashed: String

            /// For other keys. A row of their kind, in any place, takes precedence over one of Bodega 2.
            let other: String

            /// For URLs that Bodega 2 writes under another text. The row that was written last counts.
            let url: String

            /// - Parameters:
            ///   - columns: The columns to select.
            ///   - table: The table's name, quoted.
            init(_ columns: String, from table: String) {
                hashed = "SELECT \(columns) FROM \(table) WHERE key = ?1 AND (kind IS NULL OR kind = 0)"
                other = """
                    SELECT \(columns) FROM \(table)
                    WHERE (key = ?1 OR key = ?2) AND (kind IS NULL OR kind = ?3)
                    ORDER BY kind IS NULL LIMIT 1
                    """
                url = """
                    SELECT \(columns) FROM \(table)
                    WHERE key IN (?1, ?2, ?4) AND (kind = ?3 AND key IN (?1, ?2) OR kind IS NULL AND key = ?4)
                    ORDER BY updatedAt DESC, kind IS NULL LIMIT 1
                    """
            }
        }

        private let query: SQL
        private let db: Database
        private let hashed: SQLiteStatement

        init(_ query: SQL, in db: Database) throws {
            self.query = query
            self.db = db
            self.hashed = try SQLiteStatement(query.hashed, in: db)
        }

        /// Runs a closure on the row of each of several keys, unless a suspension begins: an interrupt would be lost
        /// between two statements.
        ///
        /// - Returns: The closure's results for the rows that exist, in the order of the keys.
        func rows<Result>(
            of keys: [CacheKey], _ body: (CacheKey, SQLiteStatement) throws -> Result?
        ) throws -> [Result] {
            try keys.compactMap { key in
                try LockHolders.shared.check()
                return try row(of: key) { try body(key, $0) } ?? nil
            }
        }

        /// Runs a closure on the row of a key.
        ///
        /// - Parameter body: Reads the statement's current row.
        /// - Returns: The closure's result, or `nil` if the key has no row.
        @discardableResult
        func row<Result>(of key: CacheKey, _ body: (SQLiteStatement) throws -> Result) throws -> Result? {
            let position = SQLiteKey(key)
            if key.kind == .hashed {
                // A constant of its own, so that the closure does not copy the whole lookup for each key.
                let hashed = hashed
                defer { hashed.reset() }
                return try hashed.bind(position.home ?? position.detour, at: 1) {
                    try hashed.step() ? body(hashed) : nil
                }
            }
            let statement = try SQLiteStatement(position.original == nil ? query.other : query.url, in: db)
            defer { statement.reset() }
            let detour = position.detour
            return try statement.bind(position.home ?? detour, at: 1) {
                try statement.bind(detour, at: 2) {
                    try statement.bind(position.kind, at: 3)
                    guard let original = position.original else { return try statement.step() ? body(statement) : nil }
                    return try statement.bind(original, at: 4) { try statement.step() ? body(statement) : nil }
                }
            }
        }
    }

    /// The queries for single items.
    struct Queries: Sendable {
        let value: Lookup.SQL
        let dates: Lookup.SQL
        let existence: Lookup.SQL
        /// The row's number, and whether its value is a blob.
        let place: Lookup.SQL

        init(table: String) {
            value = Lookup.SQL("value", from: table)
            dates = Lookup.SQL("createdAt, updatedAt", from: table)
            existence = Lookup.SQL("1", from: table)
            place = Lookup.SQL("rowid, typeof(value) = 'blob'", from: table)
        }
    }
}
