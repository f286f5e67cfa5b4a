#if Postgres
import Bodega

/// A statement on the items of a scan: its conditions with their values, and the order.
struct ScanStatement {

    private(set) var conditions: [String]
    private(set) var parameters = Parameters()
    /// The expressions of the members in whose order the items are; none for insertion order.
    private let expressions: ArraySlice<String>

    /// - Parameters:
    ///   - index: The index, `nil` for all items.
    ///   - equal: The sort keys of the first members that the items have.
    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if the index has fewer members.
    init(collection: Int32, index: StorageIndex?, equal: [[UInt8]] = []) throws {
        // A constant, because the server must know that the index covers the collection.
        conditions = ["collection = \(collection)"]
        if let condition = index.flatMap({ SortKeyFunction.condition(of: $0) }) { conditions.append(condition) }
        let expressions = index.map { SortKeyFunction.expressions(of: $0) } ?? []
        guard equal.count <= expressions.count else {
            throw StorageError(.invalidArgument, "The index has no \(equal.count) members.")
        }
        self.expressions = expressions.dropFirst(equal.count)
        for (expression, key) in zip(expressions, equal) { add("\(expression) = ", key) }
    }

    /// The expression of the sort key, `nil` for insertion order.
    private var expression: String? { expressions.first }

    /// The number of sort keys that the items have in an order of keys.
    var keyCount: Int { expressions.count }

    /// The items with one key.
    mutating func require(_ key: [UInt8]) { add("\(expression ?? "NULL") = ", key) }

    /// The items with keys in a range of values, which excludes those without a value.
    mutating func require(from lower: StorageSortKeyBound, to upper: StorageSortKeyBound) {
        guard let expression else { return }
        switch lower {
        case .before(let key): add("\(expression) >= ", SortKeyBytes.bytes(of: key))
        case .after(let key): add("\(expression) > ", SortKeyBytes.bytes(of: key))
        case .start: add("\(expression) >= ", SortKeyBytes.firstNumber)
        case .end: add("\(expression) > ", SortKeyBytes.none)
        }
        switch upper {
        case .before(let key): add("\(expression) < ", SortKeyBytes.bytes(of: key))
        case .after(let key) where key != .none: add("\(expression) <= ", SortKeyBytes.bytes(of: key))
        case .after, .start, .end: add("\(expression) < ", SortKeyBytes.none)
        }
    }

    /// The items after a position in insertion order.
    mutating func require(after position: Int64) {
        parameters.append(position)
        conditions.append("position > $\(parameters.count)")
    }

    /// The items after a place in the ascending order of the keys.
    mutating func require(after keys: [[UInt8]], _ position: Int64) { require(">", keys, position) }

    /// The items before a place in the ascending order of the keys.
    mutating func require(before keys: [[UInt8]], _ position: Int64) { require("<", keys, position) }

    private mutating func require(_ comparison: String, _ keys: [[UInt8]], _ position: Int64) {
        let first = parameters.count + 1
        for key in keys { parameters.append(key) }
        parameters.append(position)
        let values = keys.indices.map { "$\(first + $0)::bytea" } + ["$\(parameters.count)"]
        let columns = (expressions + ["position"]).joined(separator: ", ")
        conditions.append("(\(columns)) \(comparison) (\(values.joined(separator: ", ")))")
    }

    /// The items after a place in the descending order of the keys, with equal keys in insertion order.
    mutating func require(afterDescending key: [UInt8], _ position: Int64) {
        guard let expression else { return }
        parameters.append(key)
        parameters.append(position)
        let (key, position) = ("$\(parameters.count - 1)", "$\(parameters.count)")
        conditions.append("\(expression) <= \(key)")
        conditions.append("(\(expression) < \(key) OR position > \(position))")
    }

    private mutating func add(_ comparison: String, _ value: [UInt8]) {
        parameters.append(value)
        conditions.append("\(comparison)$\(parameters.count)::bytea")
    }

    /// The order of the items.
    enum Order {
        case insertion
        case ascending
        /// Equal keys, too, are in descending order, as the index is.
        case descending
    }

    /// A command that reads some items.
    ///
    /// The rows have the position and the key in full. Then come the columns of the fields: the item, or NULL for a
    /// large one, and its dates. The last columns are the sort keys in an order of keys.
    func rows(_ order: Order, _ fields: StorageFields = .data, limit: Int) -> Command {
        var columns = "position, coalesce(long_key, key)"
        if fields.contains(.data) {
            columns += ", CASE WHEN octet_length(data) <= \(Self.smallItem) THEN data END"
        }
        if fields.contains(.dates) { columns += ", created_at, updated_at" }
        let selected = ([columns] + expressions).joined(separator: ", ")
        let (selection, sorting) =
            switch order {
            case .insertion: (columns, "position")
            case .ascending: (selected, (expressions + ["position"]).joined(separator: ", "))
            case .descending: (selected, (expressions + ["position"]).map { "\($0) DESC" }.joined(separator: ", "))
            }
        return Command(Statement("SELECT \(selection) FROM \(source) ORDER BY \(sorting) LIMIT \(limit)"), parameters)
    }

    /// A command that counts the items, at most a limit.
    func count(upTo limit: Int) -> Command {
        let sql =
            limit == .max
            ? "SELECT count(*) FROM \(source)"
            : "SELECT count(*) FROM (SELECT FROM \(source) LIMIT \(max(limit, 0))) AS counted"
        return Command(Statement(sql), parameters)
    }

    private var source: String { "emporium_items WHERE \(conditions.joined(separator: " AND "))" }

    /// The size up to which an item is read with others, in bytes. It bounds the memory of a batch.
    private static let smallItem = 32_768

    // MARK: Settings

    /// Makes the rest of a transaction use the index, also if the server has no statistics of it yet, or old ones.
    ///
    /// A disabled kind of plan has a high cost, with which the server would compile the expressions.
    static let useIndex = Command(
        Statement(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true),
                set_config('jit', 'off', true)
            """))

    /// The settings for a count of items, at most a limit.
    static func settings(forCountingUpTo limit: Int) -> Command {
        limit == .max ? useIndexInAnyOrder : useIndex
    }

    /// For a count of all items in a range, in which it is faster to read the table in its own order.
    static let useIndexInAnyOrder = Command(
        Statement(
            """
            SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'on', true),
                set_config('jit', 'off', true)
            """))
}
#endif
