#if Postgres
/// The statements on the log of changes.
enum ChangeStatements {

    /// One view of everything for the statements that follow.
    static let begin = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let end = Statement("COMMIT")

    /// The history, whether the log was written in this database, what is committed, and the newest row of the log.
    static let state = Statement(
        "emporium_state",
        "SELECT \(history), \(isAtHome), \(committed), \(newestRow) FROM \(log)"
    )

    /// The same, and whether everything since a cursor is still in the log.
    ///
    /// The cursor's row must be there, which it is not if the log was restored from before it. And the cursor must have
    /// seen all that the snapshot has up to which the log was trimmed.
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
        """
    )

    /// The start of the server is a part of it, because files can only be restored while the server is stopped: two
    /// transactions can commit in the reverse order of their rows, so that no row could prove that both are there.
    private static let history = """
        (SELECT value FROM emporium_meta WHERE name = 'history') || '/' || \(tables)
            || '/' || (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text
        """

    private static let tables = """
        (SELECT oid::text FROM pg_database WHERE datname = current_database())
            || '/' || 'emporium_changes'::regclass::oid::text
        """

    /// A row that says where it is and which transaction wrote it. One that was copied is elsewhere, and one that was
    /// loaded from a dump has been written by another transaction, which its system column `xmin` has the last 32 bits of.
    private static let isAtHome = """
        EXISTS (
            SELECT 1 FROM emporium_meta
            WHERE name = 'home' AND value = \(tables) || '/' || substring(value FROM '[0-9]+$')
                AND substring(value FROM '[0-9]+$')::bigint % 4294967296 = xmin::text::bigint
        )
        """

    /// An identifier that no other row of the log has; NULL if the log is empty.
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

    /// What is committed. On a standby, a snapshot has no list of open transactions: all since the oldest one may be open.
    static let snapshot = """
        CASE WHEN pg_is_in_recovery() THEN (
            pg_snapshot_xmin(pg_current_snapshot())::text || ':' || pg_snapshot_xmin(pg_current_snapshot())::text || ':'
        )::pg_snapshot ELSE pg_current_snapshot() END
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

    /// Lets one program at a time find out whether the log is at home.
    static let lockHistory = Statement("SELECT value FROM emporium_meta WHERE name = 'history' FOR UPDATE")
    static let countLog = Statement("SELECT count(*) FROM emporium_changes")
    static let checkHome = Statement("SELECT \(isAtHome)")
    static let beginHistory = Statement(
        "UPDATE emporium_meta SET value = gen_random_uuid()::text WHERE name = 'history'")
    static let noteHome = Statement(
        """
        INSERT INTO emporium_meta VALUES ('home', \(tables) || '/' || pg_current_xact_id()::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """
    )
    /// The rows stay, because they have the requests by which a repeated write finds that it is done.
    static let adoptLog = Statement("UPDATE emporium_changes SET transaction = pg_current_xact_id()")
    static let beginLog = Statement(
        """
        UPDATE emporium_meta
        SET value = CASE name WHEN 'trimmed' THEN '1:1:' ELSE pg_current_snapshot()::text END
        WHERE name IN ('trimmed', 'next_trimmed')
        """
    )

    /// The next changes that a snapshot doesn't have.
    static let changes = Statement(
        "emporium_changes",
        "\(columns) FROM \(rowsSince("$2")) WHERE collection = $1 AND \(isInSnapshot) ORDER BY id LIMIT \(limit)"
    )

    /// The next changes that one snapshot doesn't have and another has.
    static let changesUpTo = Statement(
        "emporium_changes_up_to",
        """
        \(columns) FROM \(rowsSince("$2"))
        WHERE collection = $1 AND pg_visible_in_snapshot(transaction, $3::text::pg_snapshot) AND id > $4
        ORDER BY id LIMIT \(limit)
        """
    )

    /// Of the rows that are seen on a standby, those that its snapshot has.
    private static let isInSnapshot = """
        (NOT pg_is_in_recovery() OR transaction < pg_snapshot_xmin(pg_current_snapshot()))
        """

    /// The most rows that are read at once.
    static let limit = 200

    private static let columns = "SELECT id, origin, written, removed, removes_all"

    /// The rows that a snapshot, given as text, doesn't have: of transactions that began after it, or were open in it.
    /// Both are found by the index. All since the oldest open one would be the whole log if that one is old enough.
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

    // The log is trimmed up to a snapshot that was taken when it was last trimmed, so that each row stays for a while.
    // The number of a transaction would not do: one that is open for long would seem to be missed by every cursor.

    /// Lets one program trim at a time.
    static let lockTrimming = Statement("SELECT value FROM emporium_meta WHERE name = 'next_trimmed' FOR UPDATE")

    /// Moves both snapshots on if there are enough rows since the later one and it is old enough: the rows that go have
    /// the requests by which a repeated write finds that it is done. How old is decided by the program that repeats writes
    /// for the longest time, not by the one that trims.
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
        """
    )

    /// Notes how old a row must be for this program not to need it.
    static let noteRequestAge = Statement(
        """
        INSERT INTO emporium_meta AS meta VALUES ('request_age', $1::bigint::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value::bigint < excluded.value::bigint
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
