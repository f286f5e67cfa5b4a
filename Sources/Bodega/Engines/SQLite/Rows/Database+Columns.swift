import GRDB

extension Database {

    /// The names of a table's columns, none if there is no table.
    ///
    /// - Parameter table: The table's name, quoted. A temporary table or view of this name comes first.
    func columnNames(of table: String) throws -> Set<String> {
        let statement = try SQLiteStatement("PRAGMA table_info(\(table))", in: self)
        defer { statement.reset() }
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(at: 1)) }
        return names
    }
}
