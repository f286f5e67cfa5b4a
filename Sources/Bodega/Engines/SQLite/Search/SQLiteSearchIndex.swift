import GRDB

/// An index for searches: a table of FTS5 beside a collection's own.
///
/// The table of FTS5 has no texts, and the row numbers of the items. FTS5 takes several times as long to add a text as
/// SQLite takes to write the item, so nothing waits for that:
///
/// - The texts of all rows up to the number `built` in the register are in the table. Later rows are added by
///   ``update(in:)``, some at a time.
/// - A change of a row up to that number is noted by a trigger, with the texts that the table has, which FTS5 needs to
///   remove them. So what any program writes is known, also if it does not know this package or has no FTS5.
/// - Rows about which SQL can't decide, see ``SQLiteIndex``, stay noted for ever.
///
/// A search takes the rows that are not noted from FTS5, and the others from their items.
///
/// Row numbers change if a program writes all items to a new file, as the command `.dump` of `sqlite3` does. That also
/// changes the row numbers of the register, which are ``offset`` more than the indexes' numbers. So it is known, and
/// the index is not used.
///
/// It is not used either once it is known to be damaged: `built` is NULL then, and the triggers note nothing. A search
/// that finds this out reads the items instead. Creating the index again replaces it.
struct SQLiteSearchIndex: Sendable {
    let index: StorageIndex
    let table: SQLiteTable
    /// The number in the register.
    let id: Int

    /// The register of all indexes for searches.
    static let register = "emporium_searches"

    /// What the names of all its tables and triggers begin with.
    static let prefix = "emporium_search_"

    /// What the row numbers in the register are more than the numbers of the indexes.
    private static let offset = 1 << 40

    /// The states of a note.
    enum State {
        /// The table has no texts of the row.
        static let new = 0
        /// It has those in the note.
        static let changed = 1
        /// SQL can't decide about the row.
        static let irregular = 2
    }

    /// The name of the table of FTS5, and that of the table of notes.
    var name: String { "\(Self.prefix)\(id)" }
    var notes: String { "\(name)_notes" }

    /// The names of the columns.
    var columns: [String] { index.members.indices.map { "c\($0)" } }

    /// SQL for the texts of a row, NULL for members without one, and for all if SQL can't decide.
    func texts(of row: String) -> [String] {
        let json = Self.json(row)
        return index.members.map { member in
            let path = SQLiteIndex.path(of: member)
            return """
                \(SQLiteIndex.spelling(of: member))CASE WHEN \(Self.isRegular(row)) \
                THEN CASE json_type(\(json), '\(path)') \
                WHEN 'text' THEN json_extract(\(json), '\(path)') \
                WHEN 'array' THEN (SELECT group_concat(value, char(10)) FROM json_each(\(json), '\(path)') \
                WHERE type = 'text') END END
                """
        }
    }

    private static func json(_ row: String) -> String { "CAST(\(row).value AS TEXT)" }

    /// SQL for whether the texts of a row are known; see ``SQLiteIndex`` for the exceptions.
    static func isRegular(_ row: String) -> String {
        "json_valid(\(json(row))) AND \(json(row)) NOT GLOB '*\\u*' AND NOT instr(\(row).value, x'00')"
    }

    // MARK: The register

    /// Whether there is a register.
    static func exist(in db: Database) throws -> Bool { try !db.columnNames(of: register).isEmpty }

    /// The indexes of a table that are complete and can be used.
    static func all(of table: SQLiteTable, in db: Database) throws -> [SQLiteSearchIndex] {
        try registered(of: table, where: "rowid = id + \(offset) AND built IS NOT NULL", in: db).filter {
            try $0.isComplete(in: db)
        }
    }

    /// The indexes of a table in the register, those of other versions of this package excepted.
    static func registered(
        of table: SQLiteTable, where condition: String = "1", in db: Database
    ) throws -> [SQLiteSearchIndex] {
        guard try exist(in: db) else { return [] }
        let statement = try SQLiteStatement(
            "SELECT id, form, paths FROM main.\(register) WHERE \"table\" = ?1 AND \(condition) ORDER BY id", in: db)
        defer { statement.reset() }
        return try statement.bind(table.plainName, at: 1) {
            var found: [SQLiteSearchIndex] = []
            while try statement.step() {
                guard let form = SearchForm(rawValue: statement.text(at: 1)), let id = statement.integer(at: 0) else {
                    continue
                }
                let paths = statement.text(at: 2).split(separator: "\n", omittingEmptySubsequences: false)
                let index = StorageIndex.search(paths.map(String.init), form: form)
                found.append(SQLiteSearchIndex(index: index, table: table, id: id))
            }
            return found
        }
    }

    /// Whether all parts of the index exist, and are newer than the collection's table, see ``SQLiteLog``.
    private func isComplete(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            "SELECT type, name, rowid, sql FROM main.sqlite_master WHERE tbl_name IN (?1, ?2, ?3)", in: db)
        defer { statement.reset() }
        for (number, name) in [table.plainName, name, notes].enumerated() {
            try statement.bindCopy(of: name, at: Int32(number + 1))
        }
        var tables: [String: Int] = [:]
        var found: Set<String> = []
        while try statement.step() {
            let (type, name) = (statement.text(at: 0), statement.text(at: 1))
            if type == "table" { tables[name] = statement.integer(at: 2) }
            if type == "trigger", name.hasPrefix(self.name + "_") { found.insert(statement.text(at: 3)) }
        }
        guard tables[name] != nil, let items = tables[table.plainName], let notes = tables[notes], notes > items else {
            return false
        }
        return Set(triggers.map(\.definition)) == found
    }

    // MARK: Creation

    /// Creates an index without any row, inside of a transaction, in place of one with the same description.
    ///
    /// - Throws: ``StorageError/Code/invalidArgument`` if SQLite can't have it.
    static func create(_ index: StorageIndex, of table: SQLiteTable, in db: Database) throws {
        guard let form = index.searchForm, SQLiteIndex.canExpress(index), index.members.count <= 64 else {
            throw StorageError(
                .invalidArgument,
                """
                SQLite can't search in \(index): there are more than 64 paths, or a name has a quotation mark, a \
                slash, a backslash or a control character.
                """)
        }
        try remove(index, of: table, in: db)
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS main.\(register) (
                    id INTEGER NOT NULL UNIQUE, "table" TEXT NOT NULL, form TEXT NOT NULL, paths TEXT NOT NULL,
                    built INTEGER
                )
                """)
        let insertion = try SQLiteStatement(
            """
            INSERT INTO main.\(register) (rowid, id, "table", form, paths, built)
            SELECT id + \(offset), id, ?1, ?2, ?3, \(Int.min)
            FROM (SELECT ifnull(max(id), 0) + 1 AS id FROM main.\(register))
            """, in: db)
        defer { insertion.reset() }
        for (number, text) in [table.plainName, form.rawValue, text(of: index)].enumerated() {
            try insertion.bindCopy(of: text, at: Int32(number + 1))
        }
        _ = try insertion.step()
        let new = SQLiteSearchIndex(index: index, table: table, id: Int(db.lastInsertedRowID) - offset)
        let tokenizer = form == .words ? "unicode61 remove_diacritics 2" : "trigram"
        let columns = new.columns.joined(separator: ", ")
        do {
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE main.\(new.name)
                    USING fts5(\(columns), content = '', tokenize = '\(tokenizer)')
                    """)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw StorageError(
                .invalidArgument, "This SQLite can't have an index for searches, because it was built without FTS5.",
                cause: error)
        }
        try db.execute(
            sql: "CREATE TABLE main.\(new.notes) (row INTEGER PRIMARY KEY, state INTEGER NOT NULL, \(columns))")
        for trigger in new.triggers { try trigger.create(in: db) }
        SQLiteSearchFailures.shared.forget(new, in: db)
    }

    /// Removes an index, inside of a transaction, or all of a table.
    static func remove(_ index: StorageIndex? = nil, of table: SQLiteTable, in db: Database) throws {
        for found in try registered(of: table, in: db) where index == nil || found.index == index {
            for trigger in found.triggers { try trigger.remove(in: db) }
            try found.removeTable(in: db)
            try db.execute(sql: "DROP TABLE IF EXISTS main.\(found.notes)")
            try db.execute(sql: "DELETE FROM main.\(register) WHERE id = \(found.id)")
        }
    }

    /// The paths, one in each line; they contain no control characters.
    private static func text(of index: StorageIndex) -> String {
        index.members.map(\.path).joined(separator: "\n")
    }
}
