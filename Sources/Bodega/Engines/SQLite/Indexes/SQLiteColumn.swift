/// A member of an index, among items with certain sort keys of the members before it.
struct SQLiteColumn {
    /// The SQL of the sort keys of the member and of those after it.
    let expressions: ArraySlice<String>
    /// The SQL of the member's sort key.
    let expression: String
    /// The condition of a partial index.
    private let partial: String?
    private let equal: [(expression: String, key: StorageSortKey)]

    /// Whether items with equal keys are in insertion order in the index.
    var isLast: Bool { expressions.count == 1 }

    /// - Parameter equal: The sort keys of the members before it.
    /// - Throws: ``StorageError/Code/invalidArgument`` if SQLite can't have the index, or it has no such member.
    init(of index: StorageIndex, _ table: SQLiteTable, after equal: [StorageSortKey]) throws {
        let sqlIndex = try SQLiteIndex(index, of: table)
        let expressions = sqlIndex.expressions
        guard equal.count < expressions.count else {
            throw StorageError(.invalidArgument, "The index \(index) has no member after \(equal.count) others.")
        }
        partial = sqlIndex.condition
        self.expressions = expressions[equal.count...]
        expression = expressions[equal.count]
        self.equal = zip(expressions, equal).map { ($0, $1) }
    }

    /// Reads the sort keys of an item from a row, and gives it those of all members of a compound index.
    ///
    /// - Parameter column: The first of the ``expressions``.
    func read(_ item: inout StorageItem, in row: SQLiteStatement, from column: Int32) {
        item.sortKey = row.sortKey(at: column)
        guard !equal.isEmpty || !isLast, let first = item.sortKey else { return }
        let later = (1..<Int32(expressions.count)).map { row.sortKey(at: column + $0) }
        setKeys([first] + later.compactMap { $0 }, of: &item)
    }

    /// Gives an item the sort keys of all members of a compound index, if they are known.
    ///
    /// - Parameter keys: Those of the member and of the ones after it.
    func setKeys(_ keys: [StorageSortKey], of item: inout StorageItem) {
        item.sortKey = keys.first
        if keys.count == expressions.count, !equal.isEmpty || !isLast { item.sortKeys = equal.map(\.key) + keys }
    }

    /// The condition that the member has a sort key.
    func conditions(equals key: StorageSortKey) -> SQLiteConditions {
        var conditions = first
        conditions.add(expression, equals: key)
        return conditions
    }

    /// The condition that the member's sort key is in a range.
    func conditions(from lower: StorageSortKeyBound, to upper: StorageSortKeyBound) -> SQLiteConditions {
        var conditions = first
        conditions.add(expression, from: lower, to: upper)
        return conditions
    }

    private var first: SQLiteConditions {
        var conditions = SQLiteConditions(partial ?? "")
        for (expression, key) in equal { conditions.add(expression, equals: key) }
        return conditions
    }

    /// The parts of a range after a place: the later items with its key, and the bounds of those with other keys.
    func rest(
        from lower: StorageSortKeyBound, to upper: StorageSortKeyBound, _ isDescending: Bool, after place: StoragePlace
    ) throws -> (same: SQLiteConditions, other: (StorageSortKeyBound, StorageSortKeyBound)?) {
        guard let key = place.sortKey else {
            throw StorageError.needsSortKey
        }
        var same = conditions(equals: key)
        same.add("rowid > ?", .integer(Int64(place.position)))
        // Items without a value come last in both orders.
        if key == .none { return (same, nil) }
        let (lower, upper) =
            isDescending ? (lower, min(upper, .before(key))) : (max(lower, .after(key)), upper)
        return (same, lower < upper ? (lower, upper) : nil)
    }
}
