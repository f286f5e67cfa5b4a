#if Postgres
/// The statements on the table of items.
enum ItemStatements {

    // A read that returns nothing finds out whether the collection exists: those of one item by a row of NULLs, others
    // by ``CollectionTable/exists``. A write fails if it does not, because it logs NULL as its number.

    // MARK: One item

    static let data = Statement(
        "emporium_data",
        """
        SELECT data FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3
        \(CollectionTable.nulls("NULL", ifMissing: "$2"))
        """)

    /// The largest item that is read on a connection that reads share, in bytes. A larger one would hold up the others.
    static let sharedBytes = 1 << 20

    /// The size of an item, and the item unless it is too large for a shared connection.
    static let sharedData = Statement(
        "emporium_shared_data",
        """
        SELECT octet_length(data), CASE WHEN octet_length(data) <= \(sharedBytes) THEN data END
        FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3
        \(CollectionTable.nulls("NULL, NULL", ifMissing: "$2"))
        """)

    static let dates = Statement(
        "emporium_dates",
        """
        SELECT created_at, updated_at FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3
        \(CollectionTable.nulls("NULL, NULL", ifMissing: "$2"))
        """)

    /// The size of an item, the item unless it is larger than a limit, and whether the server has compressed it.
    static let dataIfSmall = Statement(
        """
        SELECT octet_length(data), CASE WHEN octet_length(data) <= $4 THEN data END,
            pg_column_size(data) < octet_length(data)
        FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3
        """)

    /// A part of an item, from a byte, counted from 1.
    static let partOfData = Statement(
        "SELECT substring(data FROM $4 FOR $5) FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3")

    // A long item is sent in parts, which are joined in the statement that writes it.

    static let createParts = Statement(
        "CREATE TEMPORARY TABLE emporium_parts (number integer, data bytea) ON COMMIT DROP")
    static let addPart = Statement("INSERT INTO pg_temp.emporium_parts VALUES ($1, $2)")
    static let writeParts = Statement(
        writing("(SELECT string_agg(parts.data, ''::bytea ORDER BY number) FROM pg_temp.emporium_parts AS parts)"))

    // The log's row is derived from the rows that changing the item returns, so that it is inserted after the item was
    // locked: the log has the changes of one item in the order in which they took effect.

    /// Writes an item and logs the change.
    static let write = Statement("emporium_write", writing("$10"))

    private static func writing(_ data: String) -> String {
        """
        WITH item AS (
            INSERT INTO emporium_items (shard, collection, key, long_key, position, created_at, updated_at, data)
            VALUES ($1, $2, $3, $4, nextval('emporium_positions') * \(placesPerBatch), $5, $6, \(data))
            ON CONFLICT (shard, collection, key) DO UPDATE
            SET updated_at = excluded.updated_at, data = excluded.data
            RETURNING 1
        )
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        SELECT \(CollectionTable.number(ifExists: "$2")), $7, $8, 0, ARRAY[$9::bytea], '{}', false FROM item
        """
    }

    /// Removes an item and logs the change, or only the request if the item did not exist. Does nothing, and returns no
    /// row, if references lead to the collection.
    static let remove = Statement(
        "emporium_remove",
        """
        WITH item AS (
            DELETE FROM emporium_items
            WHERE shard = $1 AND collection = $2 AND key = $3 AND NOT \(ReferenceMarks.exists("$7"))
            RETURNING 1
        )
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        SELECT \(CollectionTable.number(ifExists: "$2")), $4, $5, 0, '{}', coalesce(array_agg($6::bytea), '{}'), false
        FROM item HAVING NOT \(ReferenceMarks.exists("$7"))
        RETURNING 1
        """)

    // The statements of a transaction on items that it has in its snapshot. Changes are logged apart, and fail if
    // another transaction has changed or removed the item since.

    /// Reads an item, or NULL if it is large.
    static let smallData = Statement(
        "emporium_small_data",
        """
        SELECT CASE WHEN octet_length(data) <= 32768 THEN data END
        FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3
        """)

    static let removeExisting = Statement(
        "emporium_remove_existing", "DELETE FROM emporium_items WHERE shard = $1 AND collection = $2 AND key = $3")
    static let overwriteExisting = Statement(
        "emporium_overwrite_existing",
        "UPDATE emporium_items SET updated_at = $4, data = $5 WHERE shard = $1 AND collection = $2 AND key = $3")

    // MARK: Many items

    /// Returns the places of the keys whose items exist, and columns of the items.
    static func selecting(_ columns: [String]) -> KeyedStatement {
        let selection = (["u.place"] + columns).joined(separator: ", ")
        return KeyedStatement { "SELECT \(selection) \(items($0))" }
    }

    static let lockedDataOfMany = KeyedStatement {
        "SELECT u.place, i.data \(items($0)) ORDER BY u.place FOR UPDATE OF i"
    }

    static let lockMany = KeyedStatement { "SELECT 1 \(items($0)) ORDER BY u.place FOR UPDATE OF i" }

    static let removeMany = KeyedStatement { removing($0) }

    /// Removes nothing if references lead to the collection.
    static let removeManyUnreferenced = KeyedStatement { pruning in
        removing("\(pruning) AND NOT \(ReferenceMarks.isReferenced("$1"))")
    }

    private static func removing(_ condition: String) -> String {
        """
        DELETE FROM emporium_items AS i
        USING unnest($2::smallint[], $3::bytea[]) WITH ORDINALITY AS u (shard, key, place)
        WHERE i.collection = $1 AND i.shard = u.shard AND i.key = u.key \(condition)
        RETURNING u.place
        """
    }

    /// Returns the number of a new batch, and whether any of a sample of its items exists.
    static let beginBulk = KeyedStatement { "SELECT nextval('emporium_positions'), EXISTS (SELECT 1 \(items($0)))" }

    private static func items(_ pruning: String) -> String {
        """
        FROM unnest($2::smallint[], $3::bytea[]) WITH ORDINALITY AS u (shard, key, place)
        JOIN emporium_items AS i ON i.shard = u.shard AND i.key = u.key
        WHERE i.collection = $1 \(pruning)
        """
    }

    /// Blocks other writers until the end of the transaction.
    static let lockTable = Statement("LOCK TABLE emporium_items IN EXCLUSIVE MODE")

    /// Removes all items and logs their keys, up to 1,000 for each row, or, above a limit, only that all were removed.
    ///
    /// - Parameter ifUnreferenced: Whether it does nothing if references lead to the collection.
    static func removeAll(_ request: ChangeRequest, ifUnreferenced: Bool) -> Command {
        Command(
            ifUnreferenced ? removeAllUnreferenced : removeAll, request.collection, request.origin, request.identifier)
    }

    private static let removeAll = Statement(removingAll("true"))
    private static let removeAllUnreferenced = Statement(removingAll("NOT \(ReferenceMarks.isReferenced("$1"))"))

    private static func removingAll(_ condition: String) -> String {
        """
        WITH items AS (
            DELETE FROM emporium_items WHERE collection = $1 AND \(condition)
            RETURNING coalesce(long_key, key) AS key, position
        ), numbered AS (
            SELECT key, row_number() OVER (ORDER BY position) - 1 AS number, count(*) OVER () AS total FROM items
        )
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        SELECT \(CollectionTable.number(ifExists: "$1")), $2, $3, part, '{}', keys, is_all
        FROM (
            SELECT (number / 1000)::integer AS part, array_agg(key ORDER BY number) AS keys, false AS is_all
            FROM numbered WHERE total <= \(maximumKeysOfRemovingAll) GROUP BY 1
            UNION ALL
            SELECT 0, '{}', count(*) > 0 FROM numbered
            HAVING count(*) = 0 OR count(*) > \(maximumKeysOfRemovingAll)
        ) AS parts
        WHERE \(condition)
        ORDER BY part
        """
    }

    private static let maximumKeysOfRemovingAll = 100_000

    /// The maximum number of rows that `removeAll` adds to the log.
    static let partsOfRemovingAll: Int32 = 100

    static let someKeys = Statement(
        "SELECT coalesce(long_key, key) FROM emporium_items WHERE collection = $1 LIMIT $2")

    static let count = Statement("SELECT count(*) FROM emporium_items WHERE collection = $1")

    /// Assigns the number of a batch, which later statements on the same connection use.
    static let nextBatch = Statement("emporium_next_batch", "SELECT nextval('emporium_positions')")

    static let writeMany = Statement("emporium_write_many", upsert(setting: "updated_at, data"))
    static let writeManyWithDates = Statement(
        "emporium_write_many_with_dates", upsert(setting: "created_at, updated_at, data"))

    private static func upsert(setting columns: String) -> String {
        let settings = columns.split(separator: ",").map { column in
            let column = column.drop { $0 == " " }
            return "\(column) = excluded.\(column)"
        }
        return """
            INSERT INTO emporium_items (shard, collection, key, long_key, position, created_at, updated_at, data)
            SELECT u.shard, $1, u.key, u.long_key, currval('emporium_positions') * \(placesPerBatch) + u.place,
                u.created_at, u.updated_at, u.data
            FROM unnest($2::smallint[], $3::bytea[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[])
                AS u (shard, key, long_key, place, created_at, updated_at, data)
            ON CONFLICT (shard, collection, key) DO UPDATE SET \(settings.joined(separator: ", "))
            """
    }

    static let noteChange = Statement(
        "emporium_note_change",
        """
        INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
        VALUES (\(CollectionTable.number(ifExists: "$1")), $2, $3, $4, $5, $6, false)
        """)

    /// The maximum number of items in a batch. An item's position is the number of its batch times this, plus its place
    /// in the batch. A single write, also one that overwrites, takes a number as well; there are 2^41 of them.
    static let placesPerBatch = 4_194_304
}
#endif
