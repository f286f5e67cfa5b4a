#if Postgres
import Bodega

/// The marks of the collections to which references lead that concern a removal, in the table of settings.
///
/// Each removal looks for the mark of its collection, in the statement that removes or in its transaction, so that it
/// finds each declaration that was committed before it began. A removal that finds none costs no message.
enum ReferenceMarks {

    private static let start = "referenced/"

    /// The name of the mark of a collection. An index can't hold the longest names of collections in full; collections
    /// with equal beginnings share a mark.
    private static func mark(_ name: String) -> String { "'\(start)' || left(encode(\(name), 'hex'), 1000)" }

    private static let markedCollections = """
        emporium_collections AS c JOIN emporium_meta AS m ON m.name = \(mark("c.name"))
        """

    /// The name of the mark of a collection, see `mark`.
    static func mark(ofCollection name: String) -> String { start + name.utf8.prefix(500).hexadecimal }

    /// Whether the mark of a parameter exists, which the server plans in a third of the time of ``isReferenced(_:)``.
    static func exists(_ parameter: String) -> String {
        "EXISTS (SELECT FROM emporium_meta WHERE name = \(parameter))"
    }

    /// Whether references lead to the collection of a parameter.
    static func isReferenced(_ parameter: String) -> String {
        "EXISTS (SELECT FROM \(markedCollections) WHERE c.id = \(parameter))"
    }

    /// The command that returns those of some collections to which references lead.
    static func referenced(among collections: Set<Int32>) -> Command {
        Command(referencedAmong, BinaryArray(collections.map(Int64.init)))
    }

    private static let referencedAmong = Statement(
        "emporium_referenced", "SELECT c.id FROM \(markedCollections) WHERE c.id = ANY ($1::bigint[])")

    /// Decodes the result of ``referenced(among:)``.
    static func collections(_ rows: QueryResult) throws -> Set<Int32> {
        Set(try (0..<rows.count).map { try rows.number($0, 0) })
    }

    /// The statements that replace the marks.
    ///
    /// - Parameter targets: The rows of the references that concern a removal, with a column `target`.
    static func replacement(_ targets: String) -> [Statement] {
        [
            Statement(
                """
                DELETE FROM emporium_meta AS m
                WHERE starts_with(m.name, '\(start)')
                    AND NOT EXISTS (SELECT FROM \(targets) AND m.name = \(mark("target")))
                """),
            Statement(
                """
                INSERT INTO emporium_meta SELECT DISTINCT \(mark("target")), 'true' FROM \(targets)
                ON CONFLICT DO NOTHING
                """),
        ]
    }
}
#endif
