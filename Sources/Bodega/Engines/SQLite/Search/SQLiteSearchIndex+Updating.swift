import GRDB

extension SQLiteSearchIndex {

    /// The number of rows that are added by one statement.
    private static let partSize = 256

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
        while try addNoted(in: db) || addNew(in: db) {
            update.rows += Self.partSize
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
    /// - Returns: Whether there were any.
    private func addNoted(in db: Database) throws -> Bool {
        let last = try SQLiteStatement.integer(
            """
            SELECT max(row) FROM (
                SELECT row FROM main.\(notes) WHERE state < \(State.irregular) ORDER BY row LIMIT \(Self.partSize))
            """, in: db)
        guard let last else { return false }
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
        return true
    }

    /// Adds the first rows after those that were added.
    ///
    /// - Returns: Whether there were any.
    private func addNew(in db: Database) throws -> Bool {
        let built = try built(in: db)
        let query = try SQLiteStatement(
            """
            SELECT max(rowid) FROM (
                SELECT rowid FROM main.\(table.name) WHERE rowid > ?1 ORDER BY rowid LIMIT \(Self.partSize))
            """, in: db)
        defer { query.reset() }
        try query.bind(built, at: 1)
        guard try query.step(), let last = query.integer(at: 0) else { return false }
        let isNew = "item.rowid > ?2 AND item.rowid <= ?1"
        try add(where: isNew, last, built, in: db)
        try run(
            """
            INSERT INTO main.\(notes) (row, state) SELECT rowid, \(State.irregular) FROM main.\(table.name) AS item
            WHERE \(isNew) AND NOT (\(Self.isRegular("item")))
            """, last, built, in: db)
        try run("UPDATE main.\(Self.register) SET built = ?1 WHERE id = \(id)", last, in: db)
        return true
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
