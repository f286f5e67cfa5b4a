/// Rows of text: in columns on a terminal, with tabs between elsewhere, where a line has to be taken apart by programs.
///
/// The columns are as wide as the first rows need; later ones go by that, so that any number of rows can be shown.
package struct TextTable {
    /// How many rows the widths are made from.
    private static let sampleSize = 1000
    /// How wide a column gets, unless it is the last one.
    private static let widest = 40

    private let console: Console
    private let header: [String]
    private var waiting: [[String]] = []
    private var widths: [Int]?
    private var output: BufferedOutput

    /// Creates a table on the output.
    ///
    /// - Parameters:
    ///   - header: The names of the columns, shown on a terminal only.
    ///   - console: Where the table is shown.
    package init(header: [String], console: Console) {
        self.header = header
        self.console = console
        self.output = BufferedOutput(console.output)
    }

    /// Adds a row.
    ///
    /// - Parameter cells: The texts, as many as there are columns.
    package mutating func add(_ cells: [String]) throws {
        guard console.isOutputTerminal else {
            return try output.write(cells.map(Self.escaped).joined(separator: "\t") + "\n")
        }
        waiting.append(cells.map { TerminalText.escaped($0) })
        if widths != nil || waiting.count >= Self.sampleSize { try show() }
    }

    /// Shows what is left. Call it at the end.
    package mutating func finish() throws {
        if console.isOutputTerminal, widths == nil, !waiting.isEmpty { try show() }
        try output.flush()
    }

    private mutating func show() throws {
        if widths == nil {
            let widths = header.indices.map { column in
                min(waiting.reduce(header[column].count) { max($0, $1[column].count) }, Self.widest)
            }
            self.widths = widths
            try output.write(console.styled(line(header, widths), .bold) + "\n")
        }
        for row in waiting { try output.write(line(row, widths ?? []) + "\n") }
        waiting = []
    }

    /// A row in its columns, cut where the terminal ends.
    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (column, cell) in cells.enumerated() {
            let isLast = column == cells.count - 1
            let cut = isLast ? cell : Self.cut(cell, to: widths[column])
            text += cut
            if !isLast { text += String(repeating: " ", count: max(0, widths[column] - cut.count) + 2) }
        }
        return console.width.map { Self.cut(text, to: $0) } ?? text
    }

    private static func cut(_ text: String, to width: Int) -> String {
        text.count > width ? text.prefix(max(0, width - 1)) + "…" : text
    }

    /// A cell on a line of which programs find the columns by their tabs.
    private static func escaped(_ cell: String) -> String {
        guard cell.contains(where: { "\t\n\r\r\n\\".contains($0) }) else { return cell }
        return cell.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\\": text += "\\\\"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
