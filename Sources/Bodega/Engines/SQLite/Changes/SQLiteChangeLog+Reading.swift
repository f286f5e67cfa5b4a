import GRDB

extension SQLiteChangeLog {

    /// How many changes are read at once.
    static let partLimit = 10_000

    /// The last row, `nil` if there is none.
    func end(in db: Database) throws -> SQLiteLogPosition? {
        let statement = try SQLiteStatement(endQuery, in: db)
        defer { statement.reset() }
        return try statement.step() ? position(in: statement) : nil
    }

    /// The last row, `nil` if there is none or no log.
    func endIfThere(in db: Database) throws -> SQLiteLogPosition? {
        do {
            return try end(in: db)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_ERROR {
            // The statement could not be prepared.
            return nil
        }
    }

    /// What changes whenever a table or trigger does.
    static func schemaVersion(in db: Database) throws -> Int {
        let statement = try SQLiteStatement("PRAGMA schema_version", in: db)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    /// Whether there is such a row.
    func has(_ position: SQLiteLogPosition, in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(nonceQuery, in: db)
        defer { statement.reset() }
        try statement.bind(position.number, at: 1)
        return try statement.step() && statement.integer(at: 0) == position.nonce
    }

    /// The changes after a row that is there, as many as are read at once, and the last one's row.
    ///
    /// - Returns: `nil` if somebody has removed one of them.
    func changes(
        after position: SQLiteLogPosition,
        in db: Database
    ) throws -> (changes: [(number: Int, change: StorageChange)], last: SQLiteLogPosition)? {
        let sql = "SELECT number, nonce, change, key, kind FROM main.\(name) WHERE number > ?1 ORDER BY number LIMIT ?2"
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        try statement.bind(position.number, at: 1)
        try statement.bind(Self.partLimit, at: 2)
        var changes: [(number: Int, change: StorageChange)] = []
        var last = position
        while try statement.step() {
            let next = self.position(in: statement)
            guard next.number == last.number + 1 else { return nil }
            last = next
            let key = SQLiteKey.key(text: statement.text(at: 3), kind: statement.integer(at: 4))
            let kind: StorageChange.Kind = statement.integer(at: 2) == Change.removed ? .removed : .written
            changes.append((next.number, StorageChange(key: key, kind: kind)))
        }
        return (changes, last)
    }

    private func position(in row: SQLiteStatement) -> SQLiteLogPosition {
        SQLiteLogPosition(number: row.integer(at: 0) ?? 0, nonce: row.integer(at: 1) ?? 0)
    }
}
