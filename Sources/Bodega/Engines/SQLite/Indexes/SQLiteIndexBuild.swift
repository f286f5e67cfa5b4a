import Foundation
import GRDB

/// The tables in which an index is created in parts, while other programs go on writing.
///
/// SQLite creates an index in a single transaction, for which all other writers wait, and fills an index only together
/// with a table. So the index is first one of another table, which SQLite fills in many short transactions:
///
/// - `rows` has a row for each item, with its row number and the values of the index's expressions. The index `keys` of
///   this table therefore has exactly the entries that an index of the items' table would have.
/// - `changed` has the numbers of the rows that were changed, or may have been. Triggers on the items' table write it,
///   so that any program that writes items takes part. A row that was not changed only costs time. So a statement with
///   a conflict notes the row that it may replace, for which SQLite runs no trigger.
/// - `state` says how far the items were read.
///
/// In the last transaction, `keys` becomes the index of the items' table, by a change of its row in SQLite's schema.
/// Its pages stay as they are. From then on it is an index like any other, for any program.
///
/// The tables remain if the program is killed, and the next creation of the index goes on. The pages at which they
/// begin are in `state`: a copy that was made item by item, in which row numbers can differ, has others.
struct SQLiteIndexBuild: Sendable {
    let table: SQLiteTable
    let index: SQLiteIndex
    let names: Names

    /// The names of its tables, quoted.
    struct Names {
        let rows: String
        let keys: String
        let changed: String
        let state: String
        /// What the names end with.
        private let end: String

        init(ofIndex name: String) {
            let end = name.dropFirst(SQLiteIndex.prefix.count).replacing("\"", with: "\"\"")
            func quoted(_ part: String) -> String { "\"\(prefix)\(part):\(end)\"" }
            self.end = String(end)
            (rows, keys, changed, state) = (quoted("rows"), quoted("keys"), quoted("changed"), quoted("state"))
        }

        /// A name of a trigger.
        func quoted(_ part: String) -> String { "\"\(prefix)\(part):\(end)\"" }
    }

    /// What the names of all its tables and triggers begin with.
    static let prefix = "emporium_build_"

    init(of index: SQLiteIndex, _ table: SQLiteTable) {
        (self.index, self.table) = (index, table)
        names = Names(ofIndex: index.plainName)
    }

    /// How far the items were read.
    struct State: Equatable, Sendable {
        /// The number of the first row that was not read, `nil` after the last one.
        var next: Int?
        /// The number of the last row when the creation began. Later rows are in `changed`.
        var last: Int
        /// The number of items that were read.
        var count: Int
        /// The number of all items when the creation began.
        var total: Int
        /// A random number, which no other creation of the index has.
        var creation = Int.random(in: 0 ... .max)
    }

    /// Rows that are added in one transaction.
    struct Part: Sendable {
        var first: Int
        var last: Int
        var count = 0
        /// Their entries, in the order of the index.
        var entries: [Entry] = []
        /// The creation since whose beginning triggers note what changes in the rows.
        var creation: Int?
    }

    /// A row's number, and the values of the index's expressions.
    struct Entry: Sendable {
        let id: Int
        let values: [SQLiteValueCopy]
    }

    /// The limits of a part. It has at least one item.
    struct Limits: Sendable {
        var rows = 10_000
        var bytes = 8 << 20
    }

    // MARK: State

    /// The state, `nil` if there is none, or if a program has removed something that the creation needs.
    func state(in db: Database) throws -> State? {
        guard try hasTable(names.state, in: db), try hasTriggers(in: db) else { return nil }
        let statement = try SQLiteStatement(
            "SELECT next, last, count, total, roots, creation FROM main.\(names.state)", in: db)
        defer { statement.reset() }
        guard try statement.step(), statement.text(at: 4) == (try roots(in: db)) else { return nil }
        return State(
            next: statement.integer(at: 0), last: statement.integer(at: 1) ?? 0, count: statement.integer(at: 2) ?? 0,
            total: statement.integer(at: 3) ?? 0, creation: statement.integer(at: 5) ?? 0)
    }

    /// The pages at which the tables and the index begin.
    private func roots(in db: Database) throws -> String {
        let list = [table.name, names.rows, names.keys, names.changed].map(literal).joined(separator: ", ")
        let statement = try SQLiteStatement(
            "SELECT name, rootpage FROM main.sqlite_master WHERE name IN (\(list)) ORDER BY name", in: db)
        defer { statement.reset() }
        var roots: [String] = []
        while try statement.step() { roots.append("\(statement.text(at: 0))=\(statement.integer(at: 1) ?? 0)") }
        return roots.joined(separator: " ")
    }

    /// The name of a table as text in SQL.
    func literal(_ quotedName: String) -> String {
        let name = quotedName.dropFirst().dropLast().replacingOccurrences(of: "\"\"", with: "\"")
        return "'\(name.doublingApostrophes)'"
    }

    func hasTable(_ name: String, in db: Database) throws -> Bool {
        try SQLiteStatement.integer(
            "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = \(literal(name))", in: db) != nil
    }

    /// Creates the tables, inside of a transaction, unless the items are so few that they make one part.
    ///
    /// - Parameter total: The number of items, which progress is measured by.
    /// - Returns: `nil` if there are few items, or if a statement can replace rows without a trigger.
    func begin(total: Int, _ limits: Limits, in db: Database) throws -> State? {
        guard try isOnlyUniqueByKey(in: db),
            let first = try SQLiteStatement.integer("SELECT min(rowid) FROM \(table.name)", in: db),
            let last = try SQLiteStatement.integer("SELECT max(rowid) FROM \(table.name)", in: db),
            try part(from: first, to: last, limits, in: db).last < last
        else { return nil }
        let columns = index.expressions.indices.map { "k\($0)" }.joined(separator: ", ")
        try db.executeDirectly(
            """
            CREATE TABLE main.\(names.rows) (id INTEGER PRIMARY KEY, \(columns));
            CREATE INDEX main.\(names.keys) ON \(names.rows) (\(columns));
            CREATE TABLE main.\(names.changed) (id INTEGER PRIMARY KEY);
            CREATE TABLE main.\(names.state)
                (next INTEGER, last INTEGER, count INTEGER, total INTEGER, roots TEXT, creation INTEGER);
            """)
        for trigger in triggers { try trigger.create(in: db) }
        let state = State(next: first, last: last, count: 0, total: total)
        try db.executeDirectly(
            """
            INSERT INTO main.\(names.state) VALUES (\(first), \(last), 0, \(total), \
            '\(roots(in: db).doublingApostrophes)', \(state.creation))
            """)
        return state
    }

    // MARK: Rows

    /// The condition of the rows in a partial index, after another one.
    private var indexed: String { index.condition.map { " AND \($0)" } ?? "" }

    /// Reads the next part.
    ///
    /// - Returns: `nil` if there is none, or no creation.
    func nextPart(_ limits: Limits, in db: Database) throws -> Part? {
        guard let state = try state(in: db), let next = state.next else { return nil }
        var part = try read(part(from: next, to: state.last, limits, in: db), in: db)
        part.creation = state.creation
        return part
    }

    /// Chooses a part.
    func part(from first: Int, to last: Int, _ limits: Limits, in db: Database) throws -> Part {
        let statement = try SQLiteStatement(
            "SELECT rowid, length(value) FROM \(table.name) WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid LIMIT ?3",
            in: db)
        try statement.bind(first, at: 1)
        try statement.bind(last, at: 2)
        try statement.bind(limits.rows, at: 3)
        return try part(from: first, orTo: last, limits, statement)
    }

    /// Computes the entries of a part. What others change afterwards is in `changed`.
    private func read(_ part: Part, in db: Database) throws -> Part {
        let columns = index.expressions.indices
        let statement = try SQLiteStatement(
            """
            SELECT rowid, \(index.expressions.joined(separator: ", ")) FROM \(table.name)
            WHERE rowid BETWEEN ?1 AND ?2\(indexed) ORDER BY \(columns.map { "\($0 + 2)" }.joined(separator: ", "))
            """, in: db)
        defer { statement.reset() }
        try statement.bind(part.first, at: 1)
        try statement.bind(part.last, at: 2)
        var part = part
        part.entries.reserveCapacity(part.count)
        while try statement.step() {
            let values = try columns.map { try statement.copy(at: Int32($0 + 1)) }
            part.entries.append(Entry(id: statement.integer(at: 0) ?? 0, values: values))
        }
        return part
    }

    /// Chooses a part of the rows of a statement, which are followed by the size of their values.
    ///
    /// - Parameter end: The last row of the part if the statement has no more.
    private func part(
        from first: Int, orTo end: Int, _ limits: Limits, _ statement: SQLiteStatement
    ) throws -> Part {
        defer { statement.reset() }
        var part = Part(first: first, last: end)
        var size = 0
        while try statement.step() {
            let (row, bytes) = (statement.integer(at: 0) ?? 0, statement.integer(at: 1) ?? 0)
            if part.count > 0, size + bytes > limits.bytes { return part }
            size += bytes
            part.count += 1
            part.last = row
        }
        if part.count < limits.rows { part.last = end }
        return part
    }

    /// Adds the entries of a part, inside of a transaction, unless another program has added it, or the creation has
    /// begun again since it was read.
    ///
    /// - Returns: The state, `nil` if there is none.
    func add(_ part: Part, in db: Database) throws -> State? {
        guard var state = try state(in: db) else { return nil }
        guard state.creation == part.creation, state.next == part.first else { return state }
        let parameters = (0...index.expressions.count).map { "?\($0 + 1)" }.joined(separator: ", ")
        let statement = try SQLiteStatement("INSERT INTO main.\(names.rows) VALUES (\(parameters))", in: db)
        for entry in part.entries {
            defer { statement.reset() }
            try statement.bind(entry.id, at: 1)
            for (number, value) in entry.values.enumerated() { try statement.bind(value, at: Int32(number + 2)) }
            _ = try statement.step()
        }
        state.next = part.last < state.last ? part.last + 1 : nil
        state.count += part.count
        try db.executeDirectly(
            "UPDATE main.\(names.state) SET next = \(state.next.map(String.init) ?? "NULL"), count = \(state.count)")
        return state
    }

    /// Adds some of the changed rows again, inside of a transaction.
    ///
    /// - Returns: Whether these were all.
    func addChanged(_ limits: Limits, in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            """
            SELECT changed.id, length(value) FROM main.\(names.changed) AS changed
            LEFT JOIN \(table.name) AS items ON items.rowid = changed.id ORDER BY changed.id LIMIT ?1
            """, in: db)
        try statement.bind(limits.rows, at: 1)
        let part = try part(from: .min, orTo: .max, limits, statement)
        let changed = "SELECT id FROM main.\(names.changed) WHERE id <= \(part.last)"
        try db.executeDirectly(
            """
            DELETE FROM main.\(names.rows) WHERE id IN (\(changed));
            INSERT INTO main.\(names.rows) SELECT rowid, \(index.expressions.joined(separator: ", "))
            FROM \(table.name) WHERE rowid IN (\(changed))\(indexed);
            DELETE FROM main.\(names.changed) WHERE id <= \(part.last);
            """)
        return part.last == .max
    }
}
