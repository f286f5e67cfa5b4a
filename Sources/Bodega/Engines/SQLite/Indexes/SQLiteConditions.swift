/// The conditions of a statement on a table, with their values.
struct SQLiteConditions {
    private(set) var sql: String
    private var values: [StorageSortKey]
    /// Whether they are about one key of the last member, whose items are in insertion order in the index.
    private(set) var isEqual = false

    init(_ sql: String, _ values: StorageSortKey...) {
        self.sql = sql
        self.values = values
    }

    /// The condition of the items about which an index knows nothing.
    init(ofIrregular index: SQLiteIndex) {
        self.init(index.condition ?? "")
        add("\(index.expressions[0]) = x''")
    }

    /// Adds the condition that an expression has a sort key. Unlike a range of one key, it lets SQLite read by row
    /// within the index.
    mutating func add(_ expression: String, equals key: StorageSortKey) {
        isEqual = true
        if key == .none { add("\(expression) IS NULL") } else { add("\(expression) = ?", key) }
    }

    /// Adds the condition that an expression is in a range of sort keys. A range that ends with the end is that of no
    /// value.
    mutating func add(_ expression: String, from lower: StorageSortKeyBound, to upper: StorageSortKeyBound) {
        if upper == .end { return add(expression, equals: .none) }
        if case .before(let key) = lower, upper == .after(key) { return add(expression, equals: key) }
        isEqual = false
        switch lower {
        case .before(let key): add("\(expression) >= ?", key)
        case .after(let key): add("\(expression) > ?", key)
        // NULL is not greater than anything.
        case .start, .end: add("\(expression) >= -9e999")
        }
        switch upper {
        case .before(.none), .start, .end: add("\(expression) < x''")
        case .before(let key): add("\(expression) < ?", key)
        case .after(let key): add("\(expression) <= ?", key)
        }
    }

    mutating func add(_ sql: String, _ values: StorageSortKey...) {
        self.sql += self.sql.isEmpty ? sql : " AND \(sql)"
        self.values += values
    }

    /// Adds the condition that a row of a table fulfils one of several conditions, without reading the row.
    mutating func add(rowsOf table: String, withOneOf all: [SQLiteConditions]) {
        let rows = all.map { "SELECT rowid FROM \(table) WHERE \($0.sql)" }
        // With the sign, SQLite does not find the rows by their numbers instead of by the other conditions.
        sql += " AND +rowid IN (\(rows.joined(separator: " UNION ALL ")))"
        values += all.flatMap(\.values)
    }

    /// Replaces the values of the first parameters.
    mutating func replaceFirst(_ values: [StorageSortKey]) {
        self.values.replaceSubrange(..<values.count, with: values)
    }

    /// A limit of the number of rows. It is a parameter, because each text of a statement is prepared and kept.
    var limit: String { "?\(values.count + 1)" }

    /// - Parameter limit: The limit, if the statement has one.
    func bind(to statement: SQLiteStatement, limit: Int = .max) throws {
        if limit != .max { try statement.bind(limit, at: Int32(values.count + 1)) }
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let integer): try statement.bind(Int(integer), at: Int32(index + 1))
            case .real(let real): try statement.bind(real, at: Int32(index + 1))
            case .text(let text): try statement.bindCopy(of: text, at: Int32(index + 1))
            case .none: try statement.bindNull(at: Int32(index + 1))
            }
        }
    }
}
