#if Postgres
import Bodega
import Foundation

extension PostgresStorageEngine {

    /// The maximum number of keys of a short read, which shares a connection.
    private static let maximumKeysOfShortRead = 16
    /// The maximum number of keys in a statement, as messages to the server are limited. More keys are read in several
    /// statements, with one snapshot.
    private static let maximumKeys = 20_000

    /// Reads the items under some keys, in the order of the keys.
    func items(_ request: FetchRequest) async throws -> [StorageItem] {
        let keys = request.keys
        if keys.isEmpty { return [] }
        let columns = ItemColumns(request.fields, index: request.index)
        let answers: [QueryResult]
        if keys.count <= Self.maximumKeysOfShortRead, let rows = try await shortRead(keys, columns) {
            answers = [rows]
        } else {
            let (commands, patience) = (commands(of: keys, columns.statement()), patience(forItems: keys.count))
            answers = try await database.reading { session in
                if commands.count == 1 { return [try await session.run(commands[0], patience: patience)] }
                let all = [session.beginSnapshot] + commands + [session.endSnapshot]
                return Array(try await session.run(all, patience: patience).dropFirst().dropLast())
            }
        }
        let items: [StorageItem]
        do {
            items = try Self.items(answers[...], under: keys, columns)
        } catch {
            throw StorageError.postgres(error)
        }
        if items.isEmpty { try await checkExistence() }
        return items
    }

    /// Reads rows on a shared connection; `nil` if some of the items are too large for it.
    private func shortRead(_ keys: [CacheKey], _ columns: ItemColumns) async throws -> QueryResult? {
        let statement = columns.statement(upTo: ItemStatements.sharedBytes)
        let rows = try await database.read(commands(of: keys, statement)[0])
        return columns.haveAllData(rows) ? rows : nil
    }

    /// Reads items from the results of ``commands(of:_:)``, in the order of the keys.
    static func items(
        _ answers: ArraySlice<QueryResult>, under keys: [CacheKey], _ columns: ItemColumns
    ) throws -> [StorageItem] {
        try values(answers) { index, rows, row in try columns.item(keys[index], rows, row) }.map(\.value)
    }

    /// The commands that read the rows of some keys. The first column has the place of the key, counted from 1.
    func commands(of keys: [CacheKey], _ statement: KeyedStatement) -> [Command] {
        commands(of: keys.map { ItemKey($0, in: shards) }, statement)
    }

    /// See ``commands(of:_:)``.
    func commands(of keys: [ItemKey], _ statement: KeyedStatement) -> [Command] {
        stride(from: 0, to: keys.count, by: Self.maximumKeys).map { start in
            statement.command(collection: number, Array(keys[start..<min(start + Self.maximumKeys, keys.count)]))
        }
    }

    /// Reads values from the results of ``commands(of:_:)``.
    ///
    /// - Parameter value: Reads a value from a row, by the index of its key.
    /// - Returns: The values with the indices of their keys, in the order of the keys.
    static func values<Value>(
        _ answers: ArraySlice<QueryResult>,
        _ value: (_ index: Int, _ rows: QueryResult, _ row: Int) throws -> Value
    ) throws -> [(index: Int, value: Value)] {
        var found: [(index: Int, value: Value)] = []
        found.reserveCapacity(answers.reduce(0) { $0 + $1.count })
        for (part, answer) in answers.enumerated() {
            for row in 0..<answer.count {
                let place: Int64 = try answer.number(row, 0)
                let index = part * maximumKeys + Int(place) - 1
                found.append((index, try value(index, answer, row)))
            }
        }
        return found.sorted { $0.index < $1.index }
    }

    /// How long the server may be silent while it processes some items, in seconds.
    func patience(forItems count: Int) -> TimeInterval {
        database.options.timeout + TimeInterval(count) / 1000
    }

    /// Returns the number of items, on a session of the caller.
    func count(_ session: Session) async throws -> Int {
        let command = Command(ItemStatements.count, number)
        return Int(try await session.run(command).number(0, 0) as Int64)
    }

    /// Reads a value of each item, in the order of the items.
    func scan<Value>(
        _ fields: StorageFields, withKeys: Bool = true, _ value: @escaping (inout ItemScan.Row) throws -> Value
    ) async throws -> [Value] {
        let number = number
        let values = try await database.reading { session in
            try await ItemScan.run(fields, withKeys: withKeys, ofCollection: number, session, value)
        }
        if values.isEmpty { try await checkExistence() }
        return values
    }
}
#endif
