import Foundation
import GRDB

/// An index over an expression of the stored JSON.
///
/// The expression is that of the sort keys: its integers, real numbers and texts have the order of ``StorageSortKey``, and
/// NULL stands for no value. An empty blob, which comes after everything else, stands for an item about which the
/// expression knows nothing:
///
/// - An item that is not JSON. Without this case, no program could write it.
/// - An item with an escape such as `\u0041`, with which a name or a text has a second spelling.
/// - In an index for text, a text that is not all of scalars for which equality of scalars is that of Swift's strings, and a
///   UUID in mixed case.
///
/// It consists of built-in functions only, because all programs that write to the table compute it.
struct SQLiteIndex {
    let index: StorageIndex
    /// The index's name, quoted.
    let name: String
    /// The statement that creates the index, as SQLite keeps it.
    let definition: String
    let expression: String

    private static let prefix = "emporium_index"

    /// - Throws: ``StorageError/Code/invalidArgument`` if the path has a name that SQLite's path expressions can't contain, or
    ///   that has several spellings in JSON.
    init(_ index: StorageIndex, of table: SQLiteTable) throws {
        let isUsable = index.names.allSatisfy { name in
            name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !"\"\\/".unicodeScalars.contains($0) }
        }
        guard isUsable else {
            throw StorageError(
                .invalidArgument,
                "SQLite can't have an index over the path \(index): a name in it has a quotation mark, a slash, a backslash or a control character."
            )
        }
        self.index = index
        let plain = "\(Self.prefix):\(table.plainName):\(index.isForText ? "text" : "value"):\(index.path)"
        name = "\"" + plain.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        let path = "$" + index.names.map { ".\"\($0)\"" }.joined()
        expression = Self.expression(of: path.replacingOccurrences(of: "'", with: "''"), isForText: index.isForText)
        definition = "CREATE INDEX \(name) ON \(table.name) (\(expression))"
    }

    private static func expression(of path: String, isForText: Bool) -> String {
        let text = "CAST(value AS TEXT)"
        let value = "json_extract(\(text), '\(path)')"
        // The first of these patterns excludes most texts in a fraction of the time of the second one.
        let key =
            isForText
            ? """
            CASE WHEN \(value) GLOB '*[^ -~]*' AND (\(value) GLOB '*[^\(SwiftText.safe)]*' \
            OR \(value) GLOB '*[\(SwiftText.marks)][\(SwiftText.marks)]*') \
            OR \(value) GLOB '????????-????-????-????-????????????' \
            AND \(value) <> upper(\(value)) AND \(value) <> lower(\(value)) \
            THEN x'' ELSE \(value) END
            """ : value
        return "CASE WHEN json_valid(\(text)) AND \(text) NOT GLOB '*\\u*' THEN \(key) ELSE x'' END"
    }

    /// The indexes of a table.
    static func all(of table: SQLiteTable, in db: Database) throws -> Set<StorageIndex> {
        let statement = try SQLiteStatement(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL", in: db)
        defer { statement.reset() }
        return try statement.bind(table.plainName, at: 1) {
            var indexes: Set<StorageIndex> = []
            while try statement.step() {
                guard let index = index(named: statement.text(at: 0), of: table) else { continue }
                // An index of another version of this package does not match the expression.
                if try SQLiteIndex(index, of: table).definition == statement.text(at: 1) { indexes.insert(index) }
            }
            return indexes
        }
    }

    private static func index(named name: String, of table: SQLiteTable) -> StorageIndex? {
        let start = "\(prefix):\(table.plainName):"
        guard name.hasPrefix(start) else { return nil }
        let parts = name.dropFirst(start.count).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "text" || parts[0] == "value" else { return nil }
        return StorageIndex(String(parts[1]), isForText: parts[0] == "text")
    }

    /// Whether any index covers the values of a table, so that SQLite can't write them in parts.
    static func coversValues(of table: SQLiteTable, in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            "SELECT 1 FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL LIMIT 1", in: db)
        defer { statement.reset() }
        return try statement.bind(table.plainName, at: 1) { try statement.step() }
    }
}
