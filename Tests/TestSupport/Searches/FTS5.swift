import Foundation
import GRDB

/// A table of SQLite's FTS5, which says what is right.
package struct FTS5 {
    private let queue: DatabaseQueue

    /// - Parameter tokenizer: `unicode61 remove_diacritics 2` or `trigram`.
    package init(columns: Int = 1, tokenizer: String) throws {
        queue = try DatabaseQueue()
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        try queue.write { database in
            try database.execute(sql: "CREATE VIRTUAL TABLE texts USING fts5(\(names), tokenize = '\(tokenizer)')")
            try database.execute(sql: "CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'instance')")
        }
    }

    /// Adds rows, with the numbers 1 and so on.
    package func insert(_ rows: [[String]]) throws {
        try queue.write { database in
            // GRDB would end a text at its first U+0000.
            let values = rows[0].map { _ in "CAST(? AS TEXT)" }.joined(separator: ", ")
            let statement = try database.makeStatement(sql: "INSERT INTO texts VALUES (\(values))")
            for row in rows { try statement.execute(arguments: StatementArguments(row.map { Data($0.utf8) })) }
        }
    }

    /// The tokens of the only column of each row.
    package func tokens() throws -> [Int: [String]] {
        try queue.read { database in
            let rows = try Row.fetchCursor(
                database, sql: "SELECT doc, CAST(term AS BLOB) FROM words ORDER BY doc, offset")
            var tokens: [Int: [String]] = [:]
            while let row = try rows.next() {
                tokens[row[0], default: []].append(String(decoding: row[1] as Data, as: UTF8.self))
            }
            return tokens
        }
    }

    /// A row that was found.
    package struct Found {
        package var row: Int
        package var score: Double
        /// Each column with its highlights.
        package var highlighted: [String]
        /// The snippet of the first column.
        package var snippet: String
    }

    /// The rows that match, in the order of their numbers.
    package func search(_ expression: String, weights: [Double], words: Int = 8) throws -> [Found] {
        try queue.read { database in
            let highlights = weights.indices.map { "highlight(texts, \($0), '⟦', '⟧')" }.joined(separator: ", ")
            let scores = weights.map { "\($0)" }.joined(separator: ", ")
            let sql = """
                SELECT rowid, -bm25(texts, \(scores)), snippet(texts, 0, '', '', '…', \(words)), \(highlights)
                FROM texts WHERE texts MATCH ? ORDER BY rowid
                """
            return try Row.fetchAll(database, sql: sql, arguments: [expression]).map { row in
                let columns = weights.indices.map { row[3 + $0] as String? ?? "" }
                return Found(row: row[0], score: row[1], highlighted: columns, snippet: row[2] as String? ?? "")
            }
        }
    }
}
