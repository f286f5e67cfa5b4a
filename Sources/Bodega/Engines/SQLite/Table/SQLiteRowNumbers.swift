import GRDB

/// Keeps SQLite from giving the row number of a removed item to another one, inside of a transaction.
///
/// The row numbers are the order of the items, and a cursor of a query contains one. SQLite gives a new row the number
/// after the greatest one of the table. So after the last rows were removed, new items would be before a cursor that
/// has passed them.
///
/// 1. Before it removes rows, the transaction notes the greatest number of the table.
/// 2. As long as the table's greatest number is smaller, a new row gets the number after the noted one.
/// 3. If it is still smaller at the end, the noted number is stored for the transactions that follow, until a row has a
///    greater one.
///
/// Other programs, such as Bodega 2, do neither 1 nor 2.
struct SQLiteRowNumbers {

    /// The table with the stored numbers. It is created with the first of them.
    static let name = "emporium_rows"

    private let table: SQLiteTable
    private let db: Database
    private let stored: Int?
    /// A number that was used before and may be greater than those in the table.
    private var used: Int?
    /// Whether a row may have got a number after `used`.
    private var mayHavePassed = false
    /// Whether a row may have been inserted since `used` was last compared with the table.
    private var mayHaveInserted = true

    init(of table: SQLiteTable, in db: Database) throws {
        (self.table, self.db) = (table, db)
        stored = try Self.stored(of: table, in: db)
        used = stored
    }

    private static func stored(of table: SQLiteTable, in db: Database) throws -> Int? {
        guard try exists(in: db) else { return nil }
        let statement = try SQLiteStatement("SELECT number FROM \(name) WHERE name = ?1", in: db)
        defer { statement.reset() }
        return try statement.bind(table.plainName, at: 1) { try statement.step() ? statement.integer(at: 0) : nil }
    }

    /// Each write asks this, so it is a cached statement.
    private static func exists(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement("SELECT 1 FROM sqlite_master WHERE name = '\(name)'", in: db)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Whether a new row may need another number than the one that SQLite gives it.
    var mayDiffer: Bool { used != nil }

    private var greatest: Int? {
        get throws { try SQLiteStatement.integer("SELECT max(rowid) FROM \(table.name)", in: db) }
    }

    /// Notes that the next statement may remove rows.
    mutating func willRemove() throws {
        if !mayHaveInserted { return }
        mayHaveInserted = false
        guard let greatest = try greatest, greatest > used ?? .min else { return }
        used = greatest
    }

    /// The number of the next new row; `nil` if SQLite may choose it.
    mutating func next() throws -> Int? {
        mayHaveInserted = true
        // After the greatest number there is, SQLite chooses a free one at random.
        guard let used, used < .max else { return nil }
        if let greatest = try greatest, greatest >= used {
            // The next removal notes the greater one.
            self.used = nil
            return nil
        }
        mayHavePassed = true
        return used + 1
    }

    /// Stores what later transactions need to know.
    func keep() throws {
        if used == stored, !mayHavePassed { return }
        guard let used, try greatest ?? .min < used else {
            if stored != nil { try Self.forget(table, in: db) }
            return
        }
        if try !Self.exists(in: db) {
            try db.execute(
                sql: """
                    CREATE TABLE \(Self.name) (name TEXT PRIMARY KEY NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID
                    """)
        }
        try Self.run("INSERT OR REPLACE INTO \(Self.name) (name, number) VALUES (?1, ?2)", table, used, db: db)
    }

    /// Forgets a table that is removed.
    static func forget(_ table: SQLiteTable, in db: Database) throws {
        if try exists(in: db) { try run("DELETE FROM \(name) WHERE name = ?1", table, db: db) }
    }

    private static func run(_ sql: String, _ table: SQLiteTable, _ number: Int? = nil, db: Database) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        if let number { try statement.bind(number, at: 2) }
        _ = try statement.bind(table.plainName, at: 1) { try statement.step() }
    }
}
