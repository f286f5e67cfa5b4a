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

    /// The same, and whether the log still has all that a snapshot doesn't have: whether that snapshot has all that the
    /// one has up to which the log was trimmed.
    static let stateSince = Statement(
        "emporium_state_since",
        """
        SELECT \(history), pg_current_snapshot()::text,
            pg_snapshot_xmax($1::text::pg_snapshot) >= pg_snapshot_xmax(trimmed)
                AND NOT EXISTS (
                    SELECT 1 FROM pg_snapshot_xip($1::text::pg_snapshot) AS missing
                    WHERE pg_visible_in_snapshot(missing, trimmed)
                )
        FROM (SELECT value::pg_snapshot AS trimmed FROM emporium_meta WHERE name = 'trimmed') AS log
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

    // The log is trimmed up to a snapshot that was taken when it was last trimmed, so that each row stays for a while.
    // The number of a transaction would not do: one that is open for long would seem to be missed by every cursor.

    /// Lets one program trim at a time.
    static let lockTrimming = Statement("SELECT value FROM emporium_meta WHERE name = 'next_trimmed' FOR UPDATE")

    /// Moves both snapshots on if there are enough rows since the later one.
    static let moveTrimming = Statement(
        """
        UPDATE emporium_meta AS meta
        SET value = CASE meta.name WHEN 'trimmed' THEN next.value ELSE pg_current_snapshot()::text END
        FROM (SELECT value FROM emporium_meta WHERE name = 'next_trimmed') AS next
        WHERE meta.name IN ('trimmed', 'next_trimmed') AND $1 <= (
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
