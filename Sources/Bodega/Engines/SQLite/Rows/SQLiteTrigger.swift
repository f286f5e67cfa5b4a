import GRDB

/// A trigger of a table.
///
/// A statement with a conflict clause, such as `INSERT OR REPLACE`, gives this clause to all statements of its
/// triggers. So none of these should have a conflict.
struct SQLiteTrigger {
    private let name: String
    /// The statement that creates it, as SQLite keeps it.
    let definition: String
    private let creation: String

    /// - Parameters:
    ///   - name: The name, quoted if that is necessary.
    ///   - event: When it runs.
    ///   - table: The name of the table, quoted if that is necessary.
    ///   - condition: The rows for which it runs, in SQL; `nil` for all.
    ///   - statements: What it does.
    init(_ name: String, _ event: String, on table: String, when condition: String? = nil, _ statements: [String]) {
        self.name = name
        let condition = condition.map { "WHEN \($0) " } ?? ""
        let body = statements.map { $0 + "; " }.joined()
        let text = "\(name) \(event) ON \(table) \(condition)BEGIN \(body)END"
        (definition, creation) = ("CREATE TRIGGER " + text, "CREATE TRIGGER main." + text)
    }

    func create(in db: Database) throws { try db.executeDirectly(creation) }

    /// Removes it, if it exists.
    func remove(in db: Database) throws { try db.executeDirectly("DROP TRIGGER IF EXISTS main.\(name)") }
}
