#if Postgres
import Bodega
import Foundation
import TestSupport

@testable import BodegaPostgres

/// Collections of one database, which transactions change together.
struct Collections: Sendable {
    let schema: Schemas.Schema
    let database: PostgresDatabase
    let engines: [PostgresStorageEngine]

    var left: PostgresStorageEngine { engines[0] }
    var right: PostgresStorageEngine { engines[1] }

    static let key = CacheKey("a")
    static func data(_ number: Int) -> Data { Data("\(number)".utf8) }

    /// - Parameter parameters: More parameters of the URL, which begin with "&" or continue the options.
    init(
        _ schema: Schemas.Schema? = nil, _ names: [String] = ["left", "right"], parameters: String = "",
        options: PostgresDatabase.Options = .patient()
    ) async throws {
        self.schema = if let schema { schema } else { try await Schemas.shared.schema() }
        database = try await PostgresDatabase(connecting: self.schema.url + parameters, options: options)
        var engines: [PostgresStorageEngine] = []
        for name in names { engines.append(try await database.collection(named: name)) }
        self.engines = engines
    }

    /// Writes a number to an item of each engine together, and returns whether they were applied.
    @discardableResult
    static func write(
        _ number: Int, _ engines: [PostgresStorageEngine], key: CacheKey = key, if old: Int?? = nil,
        by origin: StorageOrigin? = nil, basis: [StorageCursor?] = []
    ) async throws -> Bool {
        let batches = engines.enumerated().map { index, engine in
            var batch = StorageBatch([.write(key: key, data: data(number))], origin: origin)
            if let old { batch.conditions = [StorageCondition(key: key, data: old.map(data))] }
            if index < basis.count { batch.basis = basis[index] }
            return (engine: engine as any StorageBackend, batch: batch)
        }
        let answers = try await StorageBatchGroup.apply(batches).map(\.value.wasApplied)
        // All or none.
        precondition(Set(answers).count == 1)
        return answers[0]
    }

    /// The numbers under a key in all collections, in one statement of psql; `-` for none.
    func stored(_ key: CacheKey = key) async throws -> [String] {
        let hex = key.rawValue.utf8.map { String($0, radix: 16) }.joined()
        let numbers = engines.map(\.number).sorted().map { number in
            """
            coalesce((
                SELECT convert_from(data, 'UTF8') FROM emporium_items
                WHERE collection = \(number) AND substring(key FROM 2) = '\\x\(hex)'
            ), '-')
            """
        }
        return try await schema.sql("SELECT \(numbers.joined(separator: ", "))").split(separator: "|").map(String.init)
    }
}
#endif
