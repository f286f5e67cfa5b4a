/// Rows of text: aligned in columns on a terminal, else separated by tabs, so that programs can split them.
///
/// The first rows determine the widths of the columns, so that any number of rows takes constant memory.
struct TextTable {
    /// The number of rows that determine the widths.
    private static let sampleSize = 1000
    /// The maximum width of a column other than the last one.
    private static let widest = 40

    private let console: Console
    private let header: [String]
    private var waiting: [[String]] = []
    private var widths: [Int]?
    private var output: BufferedOutput

    /// Creates a table on the output, with the names of its columns, which are shown on a terminal only.
    init(header: [String], console: Console) {
        self.header = header
        self.console = console
        self.output = BufferedOutput(console.output)
    }

    /// Adds a row of as many texts as there are columns.
    mutating func add(_ cells: [String]) throws {
        guard console.isOutputTerminal else {
            return try output.write(cells.map(Self.escaped).joined(separator: "\t") + "\n")
        }
        waiting.append(cells.map { TerminalText.escaped($0) })
        if widths != nil || waiting.count >= Self.sampleSize { try show() }
    }

    /// Shows the rows so far, unless those that determine the widths are not complete.
    mutating func flush() throws { try output.flush() }

    /// Shows the remaining rows. Call it at the end.
    mutating func finish() throws {
        if console.isOutputTerminal, widths == nil, !waiting.isEmpty { try show() }
        try output.flush()
    }

    private mutating func show() throws {
        if widths == nil {
            let widths = self.columnWidths()
            self.widths = widths
            try output.write(console.styled(line(header, widths), .bold) + "\n")
        }
        for row in waiting { try output.write(line(row, widths ?? []) + "\n") }
        waiting = []
    }

    /// The widths of the columns: as wide as the cells so far, but none wider than a share of the terminal that leaves
    /// room for the others.
    private func columnWidths() -> [Int] {
        let needs = header.indices.map { column in
            waiting.reduce(TerminalWidth.columns(of: header[column])) {
                max($0, TerminalWidth.columns(of: $1[column]))
            }
        }
        let last = header.count - 1
        let widths = needs.enumerated().map { $0 == last ? $1 : min($1, Self.widest) }
        guard let width = console.width else { return widths }
        let available = max(header.count, width - 2 * last)
        var share = available
        // The columns that need less than an equal share leave the rest to the others.
        while share > 1, widths.reduce(0, { $0 + min($1, share) }) > available { share -= 1 }
        return widths.map { min($0, share) }
    }

    /// A row in its columns, truncated to the width of the terminal.
    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (column, cell) in cells.enumerated() {
            let isLast = column == cells.count - 1
            let cut = isLast ? cell : TerminalWidth.cut(cell, to: widths[column])
            text += cut
            if !isLast {
                text += String(repeating: " ", count: max(0, widths[column] - TerminalWidth.columns(of: cut)) + 2)
            }
        }
        return console.width.map { TerminalWidth.cut(text, to: $0) } ?? text
    }

    /// A cell with tabs, line ends and backslashes escaped, for lines whose columns are separated by tabs.
    private static func escaped(_ cell: String) -> String {
        TerminalText.replacing({ "\t\n\r\\".unicodeScalars.contains($0) }, in: cell) { scalar in
            switch scalar {
            case "\t": "\\t"
            case "\n": "\\n"
            case "\r": "\\r"
            default: "\\\\"
            }
        }
    }
}
