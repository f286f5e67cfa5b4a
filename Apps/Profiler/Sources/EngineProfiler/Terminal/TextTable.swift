/// Aligned columns of text.
struct TextTable {
    private var rows: [[String]]
    private let leading: Set<Int>

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - header: The titles of the columns.
    ///   - leading: The left-aligned columns; the others are right-aligned.
    init(_ header: [String], leading: Set<Int>) {
        rows = [header]
        self.leading = leading
    }

    /// Adds a row.
    mutating func add(_ row: [String]) { rows.append(row) }

    /// The lines without trailing spaces.
    var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = row.enumerated().map { column, cell in
                leading.contains(column) ? cell.padded(toRight: widths[column]) : cell.padded(toLeft: widths[column])
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
