#if Postgres
import Bodega

/// A statement on the rows of some keys. It is planned for each execution, as the best plan depends on the keys.
///
/// For a few keys, the statement lists their shards, so that the server skips the other partitions. Many keys are in
/// all partitions, and planning with their shards would take longer than the rest of the execution.
struct KeyedStatement: Sendable {

    private let few: Statement
    private let many: Statement

    private static let maximumShards = 64

    /// - Parameter sql: Returns the statement with a condition on the shards, which may be empty. Its parameters are
    ///   the collection, the shards, the keys, and, in the condition, the distinct shards.
    init(_ sql: (_ pruning: String) -> String) {
        few = Statement(sql("AND i.shard = ANY ($4::smallint[])"))
        many = Statement(sql(""))
    }

    func command(collection: Int32, _ keys: [ItemKey]) -> Command {
        var parameters = Parameters(
            capacity: keys.count * 48 + 100, collection, BinaryArray(keys.lazy.map { $0.shard }),
            BinaryArray(keys.lazy.map { $0.bytes }))
        guard let shards = Self.shards(of: keys) else { return Command(many, parameters) }
        parameters.append(BinaryArray(shards))
        return Command(few, parameters)
    }

    /// The distinct shards of some keys; `nil` for more than `maximumShards`.
    private static func shards(of keys: [ItemKey]) -> Set<Int16>? {
        var shards: Set<Int16> = []
        for key in keys {
            shards.insert(key.shard)
            if shards.count > maximumShards { return nil }
        }
        return shards
    }
}

/// The columns from which an item is read, with the fields that a request asks for.
struct ItemColumns: Sendable {

    private let fields: StorageFields
    private let index: StorageIndex?

    /// - Parameter index: The index whose sort keys the items have with ``/Bodega/StorageFields/place``.
    init(_ fields: StorageFields, index: StorageIndex? = nil) {
        (self.fields, self.index) = (fields, index)
    }

    /// The statement that reads them, after the place of the key.
    ///
    /// - Parameter limit: The size from which it reads NULL in place of an item, in bytes; `nil` for none.
    func statement(upTo limit: Int? = nil) -> KeyedStatement {
        var columns: [String] = []
        if fields.contains(.data) {
            columns.append(limit.map { "CASE WHEN octet_length(i.data) <= \($0) THEN i.data END" } ?? "i.data")
        }
        if fields.contains(.dates) { columns += ["i.created_at", "i.updated_at"] }
        if fields.contains(.place) {
            columns.append("i.position")
            columns += (index?.members ?? []).map { SortKeyFunction.call($0, data: "i.data") }
        }
        return ItemStatements.selecting(columns)
    }

    /// Whether no item of a result was too large for the statement's limit.
    func haveAllData(_ rows: QueryResult) -> Bool {
        !fields.contains(.data) || (0..<rows.count).allSatisfy { rows.bytes($0, 1) != nil }
    }

    /// Reads an item from a row of the statement's result.
    func item(_ key: CacheKey, _ rows: QueryResult, _ row: Int) throws -> StorageItem {
        var item = StorageItem(key: key)
        var column = 1
        if fields.contains(.data) {
            item.data = try rows.data(row, column)
            column += 1
        }
        if fields.contains(.dates) {
            item.dates = try rows.dates(row, column)
            column += 2
        }
        if fields.contains(.place) {
            item.position = Int(try rows.number(row, column) as Int64)
            let count = index?.members.count ?? 0
            let keys = try (0..<count).compactMap { try rows.bytes(row, column + 1 + $0).flatMap(SortKeyBytes.key) }
            // One about which the index knows nothing because of any member has no keys.
            if keys.count == count {
                item.sortKey = keys.last
                if count > 1 { item.sortKeys = keys }
            }
        }
        return item
    }
}
#endif
