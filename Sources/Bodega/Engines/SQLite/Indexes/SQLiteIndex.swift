import Foundation
import GRDB

/// An index over an expression of the stored JSON.
///
/// The expression is that of the sort keys: its integers, real numbers and texts have the order of ``StorageSortKey``,
/// and NULL stands for no value. An empty blob, which comes after everything else, stands for an item about which the
/// expression knows nothing:
///
/// - An item that is not JSON. Without this case, no program could write it. SQLite 3.40 takes two kinds of items for
///   JSON that are not: texts that are not UTF-8, and objects that have an object or an array as a name, such as
///   `{["a"]:1}`. These have a key, so that an index counts them. Swift does not decode them.
/// - An item with an escape such as `\u0041`, with which a name or a text has a second spelling.
/// - In an index for text, a text that is not all of scalars for which equality of scalars is that of Swift's strings,
///   a UUID in mixed case, and a text that is too long to examine, see `maximumSizes`.
///
/// It consists of built-in functions only, because all programs that write to the table compute it.
///
/// A compound index has an expression for each member. If it knows nothing about an item because of one of them, that
/// of the first member is an empty blob.
///
/// A partial index has those rows for which the first members, about which the index knows everything else, have the
/// values of its condition, or none.
struct SQLiteIndex: Sendable {
    let index: StorageIndex
    /// The index's name, unquoted.
    let plainName: String
    /// The index's name, quoted.
    let name: String
    /// The statement that creates the index, as SQLite keeps it.
    let definition: String
    /// The expression of each member.
    let expressions: [String]
    /// The condition of the rows in a partial index. SQLite uses such an index only for a statement with the same term.
    let condition: String?

    /// The beginning of the names of all indexes of a table.
    static func start(of table: SQLiteTable) -> String { "\(prefix)\(table.plainName):" }

    /// What the names of all indexes begin with.
    static let prefix = "emporium_index:"

    /// - Throws: ``StorageError/Code/invalidArgument`` if the path has a name that SQLite's path expressions can't
    ///   contain, or that has several spellings in JSON.
    init(_ index: StorageIndex, of table: SQLiteTable) throws {
        // Building the expression takes longer than reading a few items.
        let key = Self.key(of: Self.text(of: index).utf8, table)
        if let known = Self.known.withLock({ $0[key] }) {
            self = known
            return
        }
        try self.init(building: index, of: table)
        Self.known.withLock { [self] known in
            if known.count >= 256 { known = [:] }
            known[key] = self
        }
    }

    /// Indexes that were used.
    private static let known = Locked<[[UInt8]: SQLiteIndex]>([:])

    /// What an index is known by: the name of its table, and its text.
    private static func key(of text: some Sequence<UInt8>, _ table: SQLiteTable) -> [UInt8] {
        var key = Array(table.plainName.utf8)
        key.append(0)
        key.append(contentsOf: text)
        return key
    }

    /// The index of a table that has a name; `nil` if no index of this version can have it.
    private static func named(_ name: String, of table: SQLiteTable) throws -> SQLiteIndex? {
        let start = start(of: table).utf8
        guard name.utf8.starts(with: start) else { return nil }
        let key = key(of: name.utf8.dropFirst(start.count), table)
        if let known = known.withLock({ $0[key] }) { return known }
        guard let index = index(named: name, of: table), canExpress(index) else { return nil }
        return try SQLiteIndex(index, of: table)
    }

    private init(building index: StorageIndex, of table: SQLiteTable) throws {
        guard Self.canExpress(index) else {
            throw StorageError(
                .invalidArgument,
                """
                SQLite can't have an index over the path \(index): a name in it has a quotation mark, a slash, a \
                backslash or a control character.
                """
            )
        }
        guard index.others.count < Self.maximumCount else {
            throw StorageError(
                .invalidArgument, "SQLite can't have an index over more than \(Self.maximumCount) members.")
        }
        try index.checkCondition()
        self.index = index
        plainName = Self.start(of: table) + Self.text(of: index)
        name = "\"" + plainName.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        var expressions = index.members.map(Self.expression)
        condition = Self.condition(expressions, index.constants)
        // Only a text is irregular by itself. Other members are if the item is.
        for (other, member) in zip(expressions, index.members).dropFirst() where member.isForText {
            expressions[0] = "CASE WHEN \(other) = x'' THEN x'' ELSE \(expressions[0]) END"
        }
        self.expressions = expressions
        definition =
            "CREATE INDEX \(name) ON \(table.name) (\(expressions.joined(separator: ", ")))"
            + (condition.map { " WHERE \($0)" } ?? "")
    }

    /// The maximum number of members.
    private static let maximumCount = 8

    /// The path of a member in SQLite's form, within quotation marks.
    static func path(of member: StorageIndex.Member) -> String {
        plainPath(of: member).doublingApostrophes
    }

    private static func plainPath(of member: StorageIndex.Member) -> String {
        "$" + member.names.map { ".\"\($0)\"" }.joined()
    }

    /// A comment with the bytes of a path outside of ASCII: prepared statements are kept under their text, which must
    /// not be equal to that for another spelling of "é".
    static func spelling(of member: StorageIndex.Member) -> String {
        let path = plainPath(of: member).utf8
        return path.contains { $0 >= 0x80 } ? "/* \(path.map { String($0, radix: 16) }.joined()) */ " : ""
    }

    /// The condition that the first members have the values of a partial index, computing each expression once.
    private static func condition(_ expressions: [String], _ constants: [StorageSortKey]) -> String? {
        let terms = zip(expressions, constants).map { expression, key in
            let known = "nullif(\(expression), x'')"
            switch key {
            case .integer(let integer):
                // SQLite can be wrong about the last bit of a number that is not written as an integer.
                let bounds = (Double(integer) - 0.5, Double(integer) + 0.5)
                return "coalesce(\(known), \(integer)) BETWEEN \(bounds.0) AND \(bounds.1)"
            case .text(let text):
                // Prepared statements are kept under their text, which must not be equal to that for another spelling.
                let constant = "CAST(x'\(text.utf8.hexadecimal)' AS TEXT)"
                return "coalesce(\(known), \(constant)) = \(constant)"
            case .none, .real: return "\(known) IS NULL"
            }
        }
        return terms.isEmpty ? nil : terms.joined(separator: " AND ")
    }

    private static func expression(of member: StorageIndex.Member) -> String {
        spelling(of: member) + expression(of: path(of: member), isForText: member.isForText)
    }

    /// The maximum number of bytes of a text in an index for text: of ASCII, of the scalars of ``SwiftText/common``,
    /// and of others. Longer texts are irregular.
    private static let maximumSizes = (ascii: 4_000, common: 1_000, others: 400)

    private static func expression(of path: String, isForText: Bool) -> String {
        let text = "CAST(value AS TEXT)"
        let value = "json_extract(\(text), '\(path)')"
        // A pattern takes time for each scalar and each range of its class. So the number of bytes decides first, which
        // is that of the scalars in ASCII, and then small classes, which most other texts consist of.
        let size = "length(CAST(\(value) AS BLOB))"
        let key =
            isForText
            ? """
            CASE WHEN \(size) > \(maximumSizes.ascii) THEN x'' WHEN \(size) = length(\(value)) THEN \
            CASE WHEN \(size) = 36 AND \(value) GLOB '????????-????-????-????-????????????' \
            AND \(value) <> upper(\(value)) AND \(value) <> lower(\(value)) THEN x'' ELSE \(value) END \
            WHEN \(size) > \(maximumSizes.common) THEN x'' \
            \(SwiftText.common.map { "WHEN \(value) NOT GLOB '*[^\($0)]*' THEN \(value) " }.joined())\
            WHEN \(size) > \(maximumSizes.others) OR \(value) GLOB '*[^\(SwiftText.safe)]*' \
            OR \(value) GLOB '*[\(SwiftText.marks)][\(SwiftText.marks)]*' THEN x'' ELSE \(value) END
            """ : value
        // SQLite's JSON ends at a NUL.
        return
            """
            CASE WHEN json_valid(\(text)) AND \(text) NOT GLOB '*\\u*' AND NOT instr(value, x'00') THEN \(key) ELSE \
            x'' END
            """
    }

    /// Whether SQLite's path expressions can contain the names of a path, and JSON has one spelling of each.
    static func canExpress(_ index: StorageIndex) -> Bool {
        index.members.flatMap(\.names).allSatisfy { name in
            name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !"\"\\/".unicodeScalars.contains($0) }
        }
    }

    /// The indexes of a table.
    static func all(of table: SQLiteTable, in db: Database) throws -> Set<StorageIndex> {
        let statement = try SQLiteStatement(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL",
            in: db)
        defer { statement.reset() }
        return try statement.bind(table.plainName, at: 1) {
            var indexes: Set<StorageIndex> = []
            while try statement.step() {
                let name = statement.text(at: 0)
                // An index of another version of this package has another path, name or expression.
                guard let known = try named(name, of: table), known.plainName.hasSameBytes(as: name),
                    known.definition.hasSameBytes(as: statement.text(at: 1))
                else { continue }
                indexes.insert(known.index)
            }
            return indexes
        }
    }
}
