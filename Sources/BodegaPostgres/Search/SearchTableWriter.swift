#if Postgres
import Bodega
import Foundation

/// Adds entries to an index for searches, in short transactions.
///
/// Each is REPEATABLE READ: the notes that it removes are those in the snapshot in which it reads the items. A change
/// that was committed later has a note of its own, which stays. The row of the state is locked first, so that one
/// program at a time works on an index.
struct SearchTableWriter: Sendable {

    private let table: SearchTable
    private let texts: StoredTexts

    /// The number of items of a transaction, and the number of notes, of which several can be of one item.
    private static let (partSize, notesSize) = (512, 4_096)
    /// The sizes of items and words up to which items get an entry, in bytes. The second one is less than PostgreSQL's
    /// limits for words and for rows of an index.
    private static let (largestItem, longestWord) = (262_144, 2_000)

    init(_ table: SearchTable) {
        self.table = table
        texts = StoredTexts(of: table.index)
    }

    /// An item for which an entry is to be written.
    private struct Row {
        var shard: Int16
        var key: [UInt8]
        /// `nil` for an item that does not exist.
        var position: Int64?
        /// `nil` for a large item.
        var data: Data?
    }

    /// Adds the first items after those that were added.
    ///
    /// - Returns: How many items were read.
    func addItems(_ session: Session) async throws -> Int {
        guard let built = try await begin(session) else { return 0 }
        let rows = try await session.run([ScanStatement.useLookups, Command(Statement(firstItems(after: built)))])[1]
        let items = try (0..<rows.count).map { try row(rows, $0, from: 0) }
        guard let last = items.last?.position else {
            _ = try await session.run(.rollback)
            return 0
        }
        try await replace(items, notes: nil, built: last, session)
        return items.count
    }

    /// Adds the items of the first notes.
    ///
    /// - Returns: How many notes there were, up to a limit; 0, too, if another program adds them.
    func addNoted(_ session: Session) async throws -> Int {
        guard try await begin(session) != nil else { return 0 }
        let rows = try await session.run([ScanStatement.useLookups, Command(Statement(firstNotes))])[1]
        if rows.count == 0 {
            _ = try await session.run(.rollback)
            return 0
        }
        let items = try (0..<rows.count).map { try row(rows, $0, from: 2) }
        let last: Int64 = try (0..<rows.count).reduce(.min) { max($0, try rows.number($1, 1)) }
        try await replace(items, notes: last, built: nil, session)
        return Int(try rows.number(0, 0) as Int64)
    }

    /// Begins a transaction that has locked the state.
    ///
    /// - Returns: The position up to which items were added, or `nil`, outside of a transaction, if another program has
    ///   locked it.
    private func begin(_ session: Session) async throws -> Int64?? {
        let state = Command(Statement("SELECT built FROM \(table.state) FOR UPDATE SKIP LOCKED"))
        let answer = try await session.run([Self.beginSnapshot, state])[1]
        if answer.count == 0 {
            _ = try await session.run(.rollback)
            return nil
        }
        return .some(answer.bytes(0, 0) == nil ? nil : try answer.number(0, 0))
    }

    private static let beginSnapshot = Command(Statement("BEGIN ISOLATION LEVEL REPEATABLE READ"))

    // MARK: Reading

    private var columns: String {
        "i.position, CASE WHEN octet_length(i.data) <= \(Self.largestItem) THEN i.data END"
    }

    /// All items with the last position are read, because only this package gives each item its own.
    private func firstItems(after position: Int64?) -> String {
        let condition = "collection = \(table.collection)" + (position.map { " AND position > \($0)" } ?? "")
        return """
            SELECT i.shard, i.key, \(columns) FROM emporium_items AS i
            WHERE \(condition) AND position <= (
                SELECT max(position) FROM (
                    SELECT position FROM emporium_items WHERE \(condition)
                    ORDER BY position LIMIT \(Self.partSize)) AS part)
            ORDER BY i.position
            """
    }

    private var firstNotes: String {
        """
        WITH first AS (
            SELECT id, shard, key FROM \(table.notes) WHERE NOT kept ORDER BY id LIMIT \(Self.notesSize)
        ), part AS (
            SELECT shard, key, max(id) AS last FROM first GROUP BY shard, key ORDER BY min(id) LIMIT \(Self.partSize)
        )
        SELECT (SELECT count(*) FROM first), n.last, n.shard, n.key, \(columns) FROM part AS n
        LEFT JOIN \(table.item(of: "n")) ON true
        """
    }

    private func row(_ rows: QueryResult, _ number: Int, from column: Int) throws -> Row {
        guard let key = rows.bytes(number, column + 1) else { throw PostgresFailure.noResult }
        var row = Row(shard: try rows.number(number, column), key: Array(key))
        if rows.bytes(number, column + 2) != nil { row.position = try rows.number(number, column + 2) }
        if rows.bytes(number, column + 3) != nil { row.data = try rows.data(number, column + 3) }
        return row
    }

    // MARK: Writing

    /// Replaces the entries of items, removes their notes, and ends the transaction.
    ///
    /// - Parameter last: The number up to which notes are removed, which is not greater than that of one in the
    ///   snapshot; `nil` for those that are kept only.
    private func replace(_ rows: [Row], notes last: Int64?, built: Int64?, _ session: Session) async throws {
        var entries: [(row: Row, words: StoredWords)] = []
        var kept: [Row] = []
        for row in rows where row.position != nil {
            guard let data = row.data else {
                kept.append(row)
                continue
            }
            guard let words = StoredWords(of: texts.texts(of: data)) else { continue }
            if words.longest > Self.longestWord {
                kept.append(row)
            } else {
                entries.append((row, words))
            }
        }
        func keys(_ rows: [Row]) -> Parameters {
            Parameters(BinaryArray(rows.lazy.map(\.shard)), BinaryArray(rows.lazy.map(\.key)))
        }
        let keyed = "unnest($1::smallint[], $2::bytea[]) AS u (shard, key)"
        let isKeyed = "x.shard = u.shard AND x.key = u.key"
        var removed = keys(rows)
        removed.append(Int64(entries.count))
        removed.append(entries.reduce(Int64(0)) { $0 + Int64($1.words.length) })
        removed.append(built)
        var added = keys(entries.map(\.row))
        added.append(BinaryArray(entries.lazy.map { $0.row.position }))
        added.append(BinaryArray(entries.lazy.map { Int64($0.words.length) }))
        added.append(BinaryArray(entries.lazy.map(\.words.text)))
        var commands = [
            Command(
                Statement(
                    """
                    DELETE FROM \(table.notes) WHERE id = ANY (ARRAY(
                        SELECT x.id FROM \(keyed),
                            LATERAL (SELECT id FROM \(table.notes) AS x WHERE x.kept AND \(isKeyed) OFFSET 0) AS x))
                    """), keys(rows)),
            Command(
                Statement(
                    """
                    WITH removed AS (
                        DELETE FROM \(table.name) WHERE number = ANY (ARRAY(
                            SELECT x.number FROM \(keyed),
                                LATERAL (SELECT number FROM \(table.name) AS x WHERE \(isKeyed) OFFSET 0) AS x))
                        RETURNING length
                    )
                    UPDATE \(table.state) SET count = count + $3 - (SELECT count(*) FROM removed),
                        length = length + $4 - (SELECT coalesce(sum(length), 0) FROM removed),
                        built = coalesce($5, built)
                    """), removed),
            Command(
                Statement(
                    """
                    INSERT INTO \(table.name) (shard, key, position, length, words)
                    SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::text[])
                    """), added),
        ]
        if let last {
            var noted = keys(rows)
            noted.append(last)
            let removal = "DELETE FROM \(table.notes) AS x USING \(keyed) WHERE \(isKeyed) AND x.id <= $3"
            // Notes have no index by key, which writers would have to keep.
            commands.append(Command(Statement(removal), noted))
        }
        let keeping = "INSERT INTO \(table.notes) (shard, key, kept) SELECT u.shard, u.key, true FROM \(keyed)"
        _ = try await session.run(commands + [Command(Statement(keeping), keys(kept)), .commit])
    }
}

/// Where an item is in the table of items, in a collection.
struct ItemPlace: Hashable, Sendable {
    let shard: Int16
    let key: [UInt8]
}

extension ScanStatement {
    /// Makes the rest of a transaction use indexes, also without statistics.
    static let useLookups = Command(
        Statement(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_nestloop', 'off', true),
                set_config('jit', 'off', true)
            """))
}
#endif
