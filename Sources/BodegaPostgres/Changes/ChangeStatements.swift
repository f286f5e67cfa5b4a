#if Postgres
/// The statements on the log of changes.
enum ChangeStatements {

    /// The history, whether the log was written in this database, the committed snapshot and the newest row of the log.
    static let state = Statement(
        "emporium_state",
        "SELECT \(history), \(isAtHome), \(committed), \(newestRow) FROM \(log)"
    )

    /// The columns of ``state``, and whether the log contains all changes since a cursor.
    ///
    /// The cursor's row must exist, which it does not after a restore to an earlier state. And the cursor must have
    /// seen all transactions that were trimmed from the log.
    static let stateSince = Statement(
        "emporium_state_since",
        """
        SELECT \(history), \(isAtHome), \(committed), \(newestRow),
            pg_snapshot_xmax($1::text::pg_snapshot) >= pg_snapshot_xmax(trimmed)
                AND pg_snapshot_xmax($1::text::pg_snapshot) <= pg_snapshot_xmax(now)
                AND NOT EXISTS (
                    SELECT 1 FROM pg_snapshot_xip($1::text::pg_snapshot) AS missing
                    WHERE pg_visible_in_snapshot(missing, trimmed)
                )
                AND ($2::uuid IS NULL OR EXISTS (SELECT 1 FROM emporium_changes WHERE request = $2::uuid))
        FROM \(log)
        """)

    /// The start time of the server is a part of it, because files can only be restored while the server is stopped.
    /// The newest row is no proof by itself: transactions can commit in another order than their rows.
    private static let history = """
        (SELECT value FROM emporium_meta WHERE name = 'history') || '/' || \(tables)
            || '/' || (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text
        """

    private static let tables = """
        (SELECT oid::text FROM pg_database WHERE datname = current_database())
            || '/' || 'emporium_changes'::regclass::oid::text
        """

    /// Whether the row `home` names this database and the transaction that wrote it. A copy names another database. A
    /// row from a dump was written by another transaction: the column `xmin` has the last 32 bits of its number.
    private static let isAtHome = """
        EXISTS (
            SELECT 1 FROM emporium_meta
            WHERE name = 'home' AND value = \(tables) || '/' || substring(value FROM '[0-9]+$')
                AND substring(value FROM '[0-9]+$')::bigint % 4294967296 = xmin::text::bigint
        )
        """

    /// The identifier of the newest row, which is unique; NULL if the log is empty.
    private static let newestRow = "(SELECT request FROM emporium_changes ORDER BY id DESC LIMIT 1)"

    private static let log = """
        (
            SELECT trimmed, \(snapshot) AS now, greatest(
                (SELECT transaction FROM emporium_changes ORDER BY transaction DESC LIMIT 1)::text::bigint + 1,
                pg_snapshot_xmax(trimmed)::text::bigint
            ) AS highest
            FROM (SELECT value::pg_snapshot AS trimmed FROM emporium_meta WHERE name = 'trimmed') AS meta
        ) AS log
        """

    /// The current snapshot. A standby's snapshot omits open transactions, so all since the oldest one are excluded.
    static let snapshot = """
        CASE WHEN pg_is_in_recovery() THEN (
            pg_snapshot_xmin(pg_current_snapshot())::text || ':' || pg_snapshot_xmin(pg_current_snapshot())::text || ':'
        )::pg_snapshot ELSE pg_current_snapshot() END
        """

    /// The snapshot of the committed transactions up to the last one in the log.
    ///
    /// The server may assign the numbers of later transactions again after a crash, if they were not on disk. A cursor
    /// that had seen them would skip the changes of the new transactions.
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

    // The log of a copied or restored database has transaction numbers of another server.

    /// Serializes the programs that check where the log was written.
    static let lockHistory = Statement("SELECT value FROM emporium_meta WHERE name = 'history' FOR UPDATE")
    static let countLog = Statement("SELECT count(*) FROM emporium_changes")
    static let checkHome = Statement("SELECT \(isAtHome)")
    static let beginHistory = Statement(
        "UPDATE emporium_meta SET value = gen_random_uuid()::text WHERE name = 'history'")
    static let noteHome = Statement(
        """
        INSERT INTO emporium_meta VALUES ('home', \(tables) || '/' || pg_current_xact_id()::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """)
    /// The rows are kept: a repeated write finds its request among them.
    static let adoptLog = Statement("UPDATE emporium_changes SET transaction = pg_current_xact_id()")
    static let beginLog = Statement(
        """
        UPDATE emporium_meta
        SET value = CASE name WHEN 'trimmed' THEN '1:1:' ELSE pg_current_snapshot()::text END
        WHERE name IN ('trimmed', 'next_trimmed')
        """)

    /// The next changes since a snapshot.
    static let changes = Statement(
        "emporium_changes",
        "\(columns) FROM \(rowsSince("$2")) WHERE collection = $1 AND \(isInSnapshot) ORDER BY id LIMIT \(limit)"
    )

    /// The next changes between two snapshots.
    static let changesUpTo = Statement(
        "emporium_changes_up_to",
        """
        \(columns) FROM \(rowsSince("$2"))
        WHERE collection = $1 AND pg_visible_in_snapshot(transaction, $3::text::pg_snapshot) AND id > $4
        ORDER BY id LIMIT \(limit)
        """)

    /// Whether the current snapshot includes the row, which is not implied on a standby.
    private static let isInSnapshot = """
        (NOT pg_is_in_recovery() OR transaction < pg_snapshot_xmin(pg_current_snapshot()))
        """

    /// The maximum number of rows in one part of the changes.
    static let limit = 200

    private static let columns = "SELECT id, origin, written, removed, removes_all"

    /// The rows of transactions that began after a snapshot, given as text, or were open in it.
    ///
    /// The index finds both. The rows since the oldest open transaction could be the whole log.
    static func rowsSince(_ snapshot: String) -> String {
        """
        (
            SELECT * FROM emporium_changes WHERE transaction >= pg_snapshot_xmax(\(snapshot)::text::pg_snapshot)
            UNION ALL
            SELECT late.* FROM pg_snapshot_xip(\(snapshot)::text::pg_snapshot) AS open
            JOIN emporium_changes AS late ON late.transaction = open
        ) AS rows
        """
    }

    // The log is trimmed up to the snapshot of the previous trimming, so that each row is kept for a while. A
    // transaction number instead of a snapshot would invalidate all cursors while a transaction stays open.

    /// Serializes the programs that trim.
    static let lockTrimming = Statement("SELECT value FROM emporium_meta WHERE name = 'next_trimmed' FOR UPDATE")

    /// Corrects a time that a clock which was ahead has recorded, and until which no row would be removed. The rows are
    /// kept for the required age from now on.
    static let correctTime = Statement(
        """
        UPDATE emporium_meta SET value = extract(epoch FROM clock_timestamp())::bigint::text
        WHERE name = 'next_trimmed_at' AND value::bigint > extract(epoch FROM clock_timestamp())::bigint
        """)

    /// Advances both snapshots if the later one has enough newer rows and is old enough. A repeated write finds its
    /// request among the rows, so the required age is the maximum over all programs that write.
    static let moveTrimming = Statement(
        """
        UPDATE emporium_meta AS meta
        SET value = CASE meta.name
            WHEN 'trimmed' THEN next.value
            WHEN 'next_trimmed' THEN (SELECT \(committed) FROM \(log))
            ELSE extract(epoch FROM clock_timestamp())::bigint::text
        END
        FROM (SELECT value FROM emporium_meta WHERE name = 'next_trimmed') AS next
        WHERE meta.name IN ('trimmed', 'next_trimmed', 'next_trimmed_at') AND greatest(
            $2, (SELECT value::bigint FROM emporium_meta WHERE name = 'request_age')
        ) <= (
            SELECT extract(epoch FROM clock_timestamp())::bigint - value::bigint FROM emporium_meta
            WHERE name = 'next_trimmed_at'
        ) AND $1 <= (
            SELECT count(*) FROM (
                SELECT 1 FROM \(rowsSince("next.value")) LIMIT $1
            ) AS new
        )
        """)

    /// Records the age up to which this program needs the rows, if it exceeds the recorded one.
    static let noteRequestAge = Statement(
        """
        INSERT INTO emporium_meta AS meta VALUES ('request_age', $1::bigint::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value::bigint < excluded.value::bigint
        """)

    /// Removes the rows of the earlier snapshot.
    static let trim = Statement(
        """
        DELETE FROM emporium_changes
        USING (SELECT value::pg_snapshot AS trimmed FROM emporium_meta WHERE name = 'trimmed') AS log
        WHERE transaction < pg_snapshot_xmax(trimmed) AND pg_visible_in_snapshot(transaction, trimmed)
        """)
}
#endif
