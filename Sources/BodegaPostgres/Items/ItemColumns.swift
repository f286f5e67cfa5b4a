#if Postgres
import Bodega

/// The columns from which an item is read, with the fields that a request asks for.
struct ItemColumns: Sendable {

    private let fields: StorageFields
    private let index: StorageIndex?

    /// - Parameter index: The index whose sort keys the items have with ``/Bodega/StorageFields/place``.
    init(_ fields: StorageFields, index: StorageIndex? = nil) {
        (self.fields, self.index) = (fields, index)
    }

    /// The statement that reads them, after the place of the key.
    var statement: KeyedStatement {
        var columns: [String] = []
        if fields.contains(.data) { columns.append("i.data") }
        if fields.contains(.dates) { columns += ["i.created_at", "i.updated_at"] }
        if fields.contains(.place) {
            columns += ["i.position", index.map { SortKeyFunction.call($0, data: "i.data") } ?? "NULL::bytea"]
        }
        return ItemStatements.selecting(columns)
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
            item.sortKey = try rows.bytes(row, column + 1).flatMap(SortKeyBytes.key)
        }
        return item
    }
}
#endif
