import GRDB

extension SQLiteSearchIndex {

    /// The number of rows that are added by one statement, and about how many bytes the items may have, because SQLite
    /// divides some megabytes into words in a second.
    private static let (partSize, partBytes) = (256, 64 << 10)

    /// How long one transaction adds rows.
    private static let maximumTime = Duration.milliseconds(40)

    /// What one transaction has added.
    struct Update: Sendable {
        /// About how many rows.
        var rows = 0
        /// Whether there may be more.
        var hasMore = false
    }

    /// Adds rows that are noted or new, inside of a transaction, until there are no more, or some time is over.
    func update(_ update: inout Update, in db: Database) throws {
        let end = ContinuousClock.now + Self.maximumTime
        while let count = try addNoted(in: db) ?? addNew(in: db) {
            update.rows += count
            if ContinuousClock.now >= end {
                update.hasMore = true
                return
            }
        }
    }

    /// The number up to which rows were added.
    func built(in db: Database) throws -> Int {
        try SQLiteStatement.integer("SELECT built FROM main.\(Self.register) WHERE id = \(id)", in: db) ?? .min
    }

    /// The number of rows that can be added, up to a limit.
    func pendingCount(upTo limit: Int, in db: Database) throws -> Int {
        let statement = try SQLiteStatement(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM main.\(notes) WHERE state < \(State.irregular)
                UNION ALL SELECT 1 FROM main.\(table.name) WHERE rowid > ?1 LIMIT ?2)
            """, in: db)
        defer { statement.reset() }
        try statement.bind(built(in: db), at: 1)
        try statement.bind(limit, at: 2)
        return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    /// Adds the first noted rows.
    ///
    /// - Returns: The number of rows, `nil` if there were none.
    private func addNoted(in db: Database) throws -> Int? {
        let oldBytes = columns.map { " + ifnull(length(note.\($0)), 0)" }.joined()
        let noted = try SQLiteStatement(
            """
            SELECT row, ifnull(length(item.value), 0)\(oldBytes)
            FROM main.\(notes) AS note LEFT JOIN main.\(table.name) AS item ON item.rowid = note.row
            WHERE state < \(State.irregular) ORDER BY row LIMIT \(Self.partSize)
            """, in: db)
        guard let (last, count) = try Self.lastOfPart(noted) else { return nil }
        let built = try built(in: db)
        let isNoted = "state < \(State.irregular) AND row <= ?1"
        let texts = columns.joined(separator: ", ")
        try run(
            """
            INSERT INTO main.\(name) (\(name), rowid, \(texts)) SELECT 'delete', row, \(texts) FROM main.\(notes)
            WHERE state = \(State.changed) AND row <= ?1 AND coalesce(\(texts), NULL) IS NOT NULL ORDER BY row
            """, last, in: db)
        let rows = "SELECT row FROM main.\(notes) WHERE \(isNoted)"
        try add(where: "item.rowid IN (\(rows)) AND item.rowid <= ?2", last, built, in: db)
        let forgotten = columns.map { ", \($0) = NULL" }.joined()
        try run(
            """
            UPDATE main.\(notes) SET state = \(State.irregular)\(forgotten) WHERE \(isNoted) AND EXISTS (
                SELECT 1 FROM main.\(table.name) AS item
                WHERE item.rowid = row AND row <= ?2 AND NOT (\(Self.isRegular("item"))))
            """, last, built, in: db)
        try run("DELETE FROM main.\(notes) WHERE \(isNoted)", last, in: db)
        return count
    }

    /// Adds the first rows after those that were added.
    ///
    /// - Returns: The number of rows, `nil` if there were none.
    private func addNew(in db: Database) throws -> Int? {
        let built = try built(in: db)
        let rows = try SQLiteStatement(
            """
            SELECT rowid, length(value) FROM main.\(table.name) WHERE rowid > ?1
            ORDER BY rowid LIMIT \(Self.partSize)
            """, in: db)
        try rows.bind(built, at: 1)
        guard let (last, count) = try Self.lastOfPart(rows) else { return nil }
        let isNew = "item.rowid > ?2 AND item.rowid <= ?1"
        try add(where: isNew, last, built, in: db)
        try run(
            """
            INSERT INTO main.\(notes) (row, state) SELECT rowid, \(State.irregular) FROM main.\(table.name) AS item
            WHERE \(isNew) AND NOT (\(Self.isRegular("item")))
            """, last, built, in: db)
        try run("UPDATE main.\(Self.register) SET built = ?1 WHERE id = \(id)", last, in: db)
        return count
    }

    /// The last of the rows to add together, and their number; `nil` if there are none.
    ///
    /// - Parameter rows: A statement that finds rows and their numbers of bytes.
    private static func lastOfPart(_ rows: SQLiteStatement) throws -> (row: Int, count: Int)? {
        defer { rows.reset() }
        var (last, count, bytes) = (0, 0, 0)
        while bytes < partBytes, try rows.step() {
            last = rows.integer(at: 0) ?? 0
            count += 1
            bytes += rows.integer(at: 1) ?? 0
        }
        return count == 0 ? nil : (last, count)
    }

    /// Adds the texts of some rows.
    private func add(where condition: String, _ last: Int, _ built: Int, in db: Database) throws {
        let names = columns.joined(separator: ", ")
        let texts = zip(texts(of: "item"), columns).map { "\($0) AS \($1)" }.joined(separator: ", ")
        // The limit keeps SQLite from computing the texts twice, for the condition and for the result.
        try run(
            """
            INSERT INTO main.\(name) (rowid, \(names)) SELECT row, \(names) FROM (
                SELECT item.rowid AS row, \(texts) FROM main.\(table.name) AS item WHERE \(condition)
                ORDER BY item.rowid LIMIT -1)
            WHERE coalesce(\(names), NULL) IS NOT NULL
            """, last, built, in: db)
    }

    /// Runs a statement with numbers.
    func run(_ sql: String, _ numbers: Int..., in db: Database) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        for (index, number) in numbers.enumerated() { try statement.bind(number, at: Int32(index + 1)) }
        _ = try statement.step()
    }
}
