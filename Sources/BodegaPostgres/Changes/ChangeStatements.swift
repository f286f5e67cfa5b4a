#if Postgres
/// The statements on the log of changes.
enum ChangeStatements {

    /// One view of everything for the statements that follow.
    static let begin = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let end = Statement("COMMIT")

    /// The database with its timeline, whether that is the one that the log belongs to, and what is committed.
    static func state(_ place: DatabasePlace) -> Statement {
        Statement(
            "emporium_state",
            "SELECT \(history(place)), \(isKnown(place)), \(committed) FROM \(log)"
        )
    }

    /// The same, and whether the log still has all that a snapshot doesn't have: whether that snapshot has all that the
    /// one has up to which the log was trimmed.
    static func stateSince(_ place: DatabasePlace) -> Statement {
        Statement(
            "emporium_state_since",
            """
            SELECT \(history(place)), \(isKnown(place)), \(committed),
                pg_snapshot_xmax($1::text::pg_snapshot) >= pg_snapshot_xmax(trimmed)
                    AND NOT EXISTS (
                        SELECT 1 FROM pg_snapshot_xip($1::text::pg_snapshot) AS missing
                        WHERE pg_visible_in_snapshot(missing, trimmed)
                    )
            FROM \(log)
            """
        )
    }

    private static func history(_ place: DatabasePlace) -> String {
        "(SELECT value FROM emporium_meta WHERE name = 'history') || '/' || \(place.sql)"
    }

    private static func isKnown(_ place: DatabasePlace) -> String {
        "EXISTS (SELECT 1 FROM emporium_meta WHERE name = 'place' AND value = \(place.sql))"
    }

    private static let log = """
        (
            SELECT trimmed, pg_current_snapshot() AS now, greatest(
                (SELECT max(transaction) FROM emporium_changes)::text::bigint + 1,
                pg_snapshot_xmax(trimmed)::text::bigint
            ) AS highest
            FROM (SELECT value::pg_snapshot AS trimmed FROM emporium_meta WHERE name = 'trimmed') AS meta
        ) AS log
        """

    /// The snapshot of all that is committed, but not of transactions after the last one that changed something.
    ///
    /// Their numbers may be given again after a crash, if what they did was not on the disk by then, and a cursor that
    /// has seen them would skip the changes of those who get them.
    private static let committed = """
        least(pg_snapshot_xmin(now)::text::bigint, highest) || ':'
            || least(pg_snapshot_xmax(now)::text::bigint, highest) || ':'
            || coalesce(
                (
                    SELECT string_agg(xip::text, ',' ORDER BY xip) FROM pg_snapshot_xip(now) AS xip
                    WHERE xip::text::bigint < highest
                ), ''
            )
        """

    // The log of a database that was restored elsewhere has the numbers of the transactions of the other server.

    /// Lets one program at a time find out where the database is.
    static let lockHistory = Statement("SELECT value FROM emporium_meta WHERE name = 'history' FOR UPDATE")

    /// Where the database was when its log was begun; no row if that was never noted. And where it is.
    static func places(_ place: DatabasePlace) -> Statement {
        Statement("SELECT \(place.sql), (SELECT value FROM emporium_meta WHERE name = 'place')")
    }

    static let beginHistory = Statement(
        """
        UPDATE emporium_meta SET value = gen_random_uuid()::text WHERE name = 'history'
        """
    )
    static let notePlace = Statement(
        """
        INSERT INTO emporium_meta VALUES ('place', convert_from($1, 'UTF8'))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """
    )
    static let emptyLog = Statement("DELETE FROM emporium_changes")
    static let beginLog = Statement(
        """
        UPDATE emporium_meta
        SET value = CASE name WHEN 'trimmed' THEN '1:1:' ELSE pg_current_snapshot()::text END
        WHERE name IN ('trimmed', 'next_trimmed')
        """
    )

    // A transaction from before the snapshot's oldest one is in it, so only those since are looked at, by an index.

    /// The next changes that a snapshot doesn't have.
    static let changes = Statement("emporium_changes", "\(rows) ORDER BY id LIMIT \(limit)")

    /// The next changes that one snapshot doesn't have and another has.
    static let changesUpTo = Statement(
        "emporium_changes_up_to",
        """
        \(rows) AND pg_visible_in_snapshot(transaction, $3::text::pg_snapshot) AND id > $4
        ORDER BY id LIMIT \(limit)
        """
    )

    /// The most rows that are read at once.
    static let limit = 200

    private static let rows = """
        SELECT id, origin, written, removed, removes_all FROM emporium_changes
        WHERE collection = $1 AND transaction >= pg_snapshot_xmin($2::text::pg_snapshot)
            AND NOT pg_visible_in_snapshot(transaction, $2::text::pg_snapshot)
        """

    // The log is trimmed up to a snapshot that was taken when it was last trimmed, so that each row stays for a while.
    // The number of a transaction would not do: one that is open for long would seem to be missed by every cursor.

    /// Lets one program trim at a time.
    static let lockTrimming = Statement("SELECT value FROM emporium_meta WHERE name = 'next_trimmed' FOR UPDATE")

    /// Moves both snapshots on if there are enough rows since the later one and it is old enough: the rows that go have
    /// the requests by which one who tries again finds that he is done.
    static let moveTrimming = Statement(
        """
        UPDATE emporium_meta AS meta
        SET value = CASE meta.name
            WHEN 'trimmed' THEN next.value
            WHEN 'next_trimmed' THEN (SELECT \(committed) FROM \(log))
            ELSE extract(epoch FROM clock_timestamp())::bigint::text
        END
        FROM (SELECT value FROM emporium_meta WHERE name = 'next_trimmed') AS next
        WHERE meta.name IN ('trimmed', 'next_trimmed', 'next_trimmed_at') AND $2 <= (
            SELECT extract(epoch FROM clock_timestamp())::bigint - value::bigint FROM emporium_meta
            WHERE name = 'next_trimmed_at'
        ) AND $1 <= (
            SELECT count(*) FROM (
                SELECT 1 FROM emporium_changes
                WHERE transaction >= pg_snapshot_xmin(next.value::pg_snapshot)
                    AND NOT pg_visible_in_snapshot(transaction, next.value::pg_snapshot)
                LIMIT $1
            ) AS new
        )
        """
    )

    /// Removes what the first snapshot has.
    static let trim = Statement(
        """
        DELETE FROM emporium_changes
        USING (SELECT value::pg_snapshot AS trimmed FROM emporium_meta WHERE name = 'trimmed') AS log
        WHERE transaction < pg_snapshot_xmax(trimmed) AND pg_visible_in_snapshot(transaction, trimmed)
        """
    )
}
#endif
