#if Postgres
/// A statement on the rows of some keys. It is planned anew each time, as the best plan depends on the keys.
///
/// For a few, the shards are listed, so that the server leaves the partitions alone that have none of them. Many are in
/// all partitions anyway, and the server would take longer to find that out than to do the rest.
struct KeyedStatement: Sendable {

    private let few: Statement
    private let many: Statement

    private static let mostShards = 64

    /// - Parameter sql: Makes the statement of a condition on the shards, which may be empty. Its parameters are the
    ///   collection, the shards, the keys, and, in the condition, the shards without repetition.
    init(_ sql: (_ pruning: String) -> String) {
        few = Statement(sql("AND i.shard = ANY ($4::smallint[])"))
        many = Statement(sql(""))
    }

    func command(collection: Int32, _ keys: [ItemKey]) -> Command {
        var parameters = Parameters(capacity: keys.count * 48 + 100)
        parameters.append(collection)
        parameters.appendArray(of: .int2, keys) { $0.append($1.shard) }
        parameters.appendArray(of: .bytea, keys) { $0.append($1.bytes) }
        guard let shards = Self.shards(of: keys) else { return Command(many, parameters) }
        parameters.appendArray(of: .int2, shards) { $0.append($1) }
        return Command(few, parameters)
    }

    /// The shards of some keys; `nil` if they are many.
    private static func shards(of keys: [ItemKey]) -> Set<Int16>? {
        var shards: Set<Int16> = []
        for key in keys {
            shards.insert(key.shard)
            if shards.count > mostShards { return nil }
        }
        return shards
    }
}
#endif
