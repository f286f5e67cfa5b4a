#if Postgres
/// The statements on the log of changes.
enum ChangeStatements {

    /// One view of everything for the statements that follow.
    static let begin = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let end = Statement("COMMIT")

    /// The database with its timeline, and what is committed.
    static let state = Statement(
        "emporium_state",
        "SELECT \(history), pg_current_snapshot()::text"
    )

    /// The same, and whether the log still has all that comes after a snapshot.
    static let stateSince = Statement(
        "emporium_state_since",
        """
        SELECT \(history), pg_current_snapshot()::text,
            pg_snapshot_xmin($1::text::pg_snapshot) >= (SELECT value::xid8 FROM emporium_meta WHERE name = 'trimmed')
        """
    )

    private static let history = """
        (SELECT value FROM emporium_meta WHERE name = 'history')
            || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
        """

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

    /// Notes from which transaction on the log will be whole when all but its last rows are gone.
    static let moveTrimming = Statement(
        """
        UPDATE emporium_meta SET value = greatest(value::xid8, first.transaction)::text
        FROM (SELECT transaction FROM emporium_changes ORDER BY id DESC OFFSET $1 LIMIT 1) AS first
        WHERE name = 'trimmed'
        """
    )

    /// Removes what is from before that transaction.
    static let trim = Statement(
        "DELETE FROM emporium_changes WHERE transaction < (SELECT value::xid8 FROM emporium_meta WHERE name = 'trimmed')"
    )
}
#endif
