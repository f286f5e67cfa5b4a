#if Postgres
import Bodega
import Foundation

/// The table of items in the catalogs of the server: its partitions, and the indexes of this package.
struct TableCatalog: Sendable {

    struct Partition: Sendable {
        let name: String
        /// The size with everything that a build reads, in bytes.
        let size: Int64
    }

    struct Index: Sendable {
        let name: String
        /// Whether it is an index of the whole table, not of a partition.
        let isWhole: Bool
        let isValid: Bool
        /// Whether the index of a partition is a part of one of the whole table.
        let isAttached: Bool
    }

    let identifier: Int32
    let schema: String
    /// Whether the function of this version exists with the expected text, and no user can replace it who can't also
    /// change the table.
    let hasFunction: Bool
    let partitions: [Partition]
    let indexes: [Index]

    static func read(_ session: Session) async throws -> TableCatalog {
        let answers = try await session.run(
            [Command(table, SortKeyFunction.body), Command(partitions), Command(indexes)])
        guard answers[0].count == 1 else { throw PostgresFailure.noResult }
        return TableCatalog(
            identifier: try answers[0].number(0, 0), schema: try answers[0].text(0, 1),
            hasFunction: try answers[0].flag(0, 2),
            partitions: try (0..<answers[1].count).map { row in
                Partition(name: try answers[1].text(row, 0), size: try answers[1].number(row, 1))
            },
            indexes: try (0..<answers[2].count).map { row in
                Index(
                    name: try answers[2].text(row, 0), isWhole: try answers[2].flag(row, 1),
                    isValid: try answers[2].flag(row, 2), isAttached: try answers[2].flag(row, 3))
            })
    }

    /// How long a build over all items may take, in seconds, in addition to the time limit of an operation: a server
    /// computes the keys of some megabytes in a second.
    var timeToBuild: TimeInterval { partitions.reduce(0) { $0 + Self.timeToBuild($1) } }

    static func timeToBuild(_ partition: Partition) -> TimeInterval { TimeInterval(partition.size) / 1_000_000 }

    private static let table = Statement(
        """
        SELECT t.oid::bigint::bit(32)::integer, n.nspname, EXISTS (
            SELECT FROM pg_proc AS p
            WHERE p.pronamespace = t.relnamespace AND p.proname = '\(SortKeyFunction.name)' AND p.prosrc = $1
                AND pg_has_role(p.proowner, t.relowner, 'MEMBER')
        )
        FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
        WHERE t.oid = 'emporium_items'::regclass
        """)

    private static let partitions = Statement(
        """
        SELECT p.relname, pg_table_size(p.oid) FROM pg_inherits AS h JOIN pg_class AS p ON p.oid = h.inhrelid
        WHERE h.inhparent = 'emporium_items'::regclass ORDER BY p.relname
        """)

    private static let indexes = Statement(
        """
        SELECT c.relname, i.indrelid = 'emporium_items'::regclass, i.indisvalid,
            EXISTS (SELECT FROM pg_inherits AS a WHERE a.inhrelid = c.oid)
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE (
            i.indrelid = 'emporium_items'::regclass
            OR i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'emporium_items'::regclass)
        ) AND starts_with(c.relname::text, '\(ItemIndex.prefix)')
        """)
}
#endif
