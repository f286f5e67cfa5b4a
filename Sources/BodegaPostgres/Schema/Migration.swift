#if Postgres
/// A migration of the tables to the next version.
///
/// A published migration never changes.
struct Migration: Sendable {

    let version: Int32
    let statements: [String]

    static func all(partitions: Int) -> [Migration] {
        [Migration(version: 1, statements: firstVersion(partitions: partitions))]
    }

    /// The latest version that this program supports.
    static let latest: Int32 = 1

    private static func firstVersion(partitions: Int) -> [String] {
        [
            """
            CREATE TABLE emporium_meta (
                name text PRIMARY KEY,
                value text NOT NULL
            )
            """,
            """
            CREATE TABLE emporium_collections (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name bytea NOT NULL UNIQUE
            )
            """,
            "CREATE SEQUENCE emporium_positions",
            """
            CREATE TABLE emporium_items (
                shard smallint NOT NULL,
                collection integer NOT NULL,
                key bytea NOT NULL,
                long_key bytea,
                position bigint NOT NULL,
                created_at bigint NOT NULL,
                updated_at bigint NOT NULL,
                data bytea NOT NULL,
                PRIMARY KEY (shard, collection, key)
            ) PARTITION BY HASH (shard)
            """,
        ]
            + (0..<partitions).map { index in
                """
                CREATE TABLE emporium_items_\(index) PARTITION OF emporium_items
                FOR VALUES WITH (MODULUS \(partitions), REMAINDER \(index))
                """
            }
            + [
                "CREATE INDEX emporium_items_by_position ON emporium_items (collection, position)",
                """
                CREATE TABLE emporium_changes (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    collection integer NOT NULL,
                    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
                    origin uuid NOT NULL,
                    request uuid NOT NULL,
                    part integer NOT NULL,
                    written bytea[] NOT NULL,
                    removed bytea[] NOT NULL,
                    removes_all boolean NOT NULL,
                    CONSTRAINT emporium_changes_request UNIQUE (request, part)
                )
                """,
                "CREATE INDEX emporium_changes_by_transaction ON emporium_changes (transaction)",
                """
                INSERT INTO emporium_meta VALUES
                    ('partitions', '\(partitions)'), ('history', gen_random_uuid()::text),
                    ('trimmed', '1:1:'), ('next_trimmed', pg_current_snapshot()::text),
                    ('next_trimmed_at', extract(epoch FROM clock_timestamp())::bigint::text)
                """,
            ]
    }
}
#endif
