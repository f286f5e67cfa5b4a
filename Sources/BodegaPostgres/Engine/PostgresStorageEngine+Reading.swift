#if Postgres
import Bodega
import Foundation

extension PostgresStorageEngine {

    /// Few keys go together with other short reads; many have a connection to themselves.
    private static let fewKeys = 16

    /// Reads the rows of some keys.
    ///
    /// - Parameters:
    ///   - statement: Answers with the place of a key, counted from 1, and whatever else.
    ///   - value: Takes a value from a row of an answer.
    /// - Returns: The values with the indices of their keys, in the order of the keys.
    func rows<Value>(
        of keys: [CacheKey],
        _ statement: KeyedStatement,
        _ value: (_ rows: QueryResult, _ row: Int) throws -> Value
    ) async throws -> [(index: Int, value: Value)] {
        if keys.isEmpty { return [] }
        let command = statement.command(collection: number, keys.map { ItemKey($0, in: shards) })
        let answer: QueryResult
        if keys.count <= Self.fewKeys {
            answer = try await database.read(command)
        } else {
            let patience = patience(forItems: keys.count)
            answer = try await database.perform { session in try await session.run(command, patience: patience) }
        }
        do {
            var found: [(index: Int, value: Value)] = []
            found.reserveCapacity(answer.count)
            for row in 0..<answer.count {
                let place: Int64 = try answer.number(row, 0)
                found.append((Int(place) - 1, try value(answer, row)))
            }
            return found.sorted { $0.index < $1.index }
        } catch {
            throw StorageError.postgres(error)
        }
    }

    /// How long a server may be silent while it works at some items, in seconds.
    func patience(forItems count: Int) -> TimeInterval {
        database.options.timeout + TimeInterval(count) / 1000
    }

    /// Reads all items.
    ///
    /// - Parameters:
    ///   - columns: What is needed of them.
    ///   - value: Takes a value from a row.
    /// - Returns: The values in the order of the items.
    func scan<Value>(
        _ columns: ItemScan.Columns,
        _ value: @escaping (inout ItemScan.Row) throws -> Value
    ) async throws -> [Value] {
        let (number, patience) = (number, database.options.timeout)
        return try await database.perform { session in
            try await ItemScan.run(columns, ofCollection: number, session, patience, value)
        }
    }
}
#endif
