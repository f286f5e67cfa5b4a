import BenchHarness
import Bodega
import Boutique
import Foundation
import GRDBSQLite

extension Metrics {
    /// Transactions that read and change an item in each of two collections, each durable when it returns.
    static let transactions = [
        Metric("transaction.two", baseline: "C API: BEGIN, 2 selects, 2 upserts, COMMIT", maximum: 3.5) { plan in
            try await transfers(plan) { database in
                let storages = [
                    ObjectStorage<Account>(storage: try database.collection(named: "left")),
                    ObjectStorage<Account>(storage: try database.collection(named: "right")),
                ]
                for storage in storages { try await storage.store(Account(id: "a", units: 0), forKey: key) }
                return {
                    try await database.transaction { transaction in
                        try await transaction.update(forKey: key, in: storages[0]) { $0.units -= 1 }
                        try await transaction.update(forKey: key, in: storages[1]) { $0.units += 1 }
                    }
                }
            }
        },
        Metric("transaction.two.stores", baseline: "C API: BEGIN, 2 selects, 2 upserts, COMMIT", maximum: nil) { plan in
            try await transfers(plan) { database in
                let left = try await Store<Account>(storage: try database.collection(named: "left"))
                let right = try await Store<Account>(storage: try database.collection(named: "right"))
                for store in [left, right] { try await store.insert(Account(id: "a", units: 0)) }
                return {
                    try await left.transaction(with: right) { left, right in
                        try left.update(id: "a") { $0.units -= 1 }
                        try right.update(id: "a") { $0.units += 1 }
                    }
                }
            }
        },
    ]

    private struct Account: Codable, Sendable, Identifiable {
        var id: String
        var units: Int
    }

    private static let key = CacheKey("a")

    private static func transfers(
        _ plan: Plan, ours prepare: @escaping (SQLiteStorageEngine) async throws -> @Sendable () async throws -> Void
    ) async throws -> Outcome {
        let count = plan.size(300)
        return try await plan.scratch.withFolder { folder in
            let engine = try SQLiteStorageEngine(opening: FileManager.Directory(url: folder), databaseFilename: "ours")
            let transfer = try await prepare(engine)
            let baseline = try TransferBaseline(CDatabase(folder.appendingPathComponent("baseline.sqlite3")))
            let (left, right) = (try engine.collection(named: "left"), try engine.collection(named: "right"))
            let accounts = [ObjectStorage<Account>(storage: left), ObjectStorage<Account>(storage: right)]
            var (ourNumber, baselineNumber) = (0, 0)
            return try await compare(
                items: count,
                runs: plan.runs,
                ours: {
                    ourNumber += count
                    let time = try await timed { for _ in 0..<count { try await transfer() } }.time
                    let units = [
                        try await accounts[0].fetchObject(forKey: key)?.units,
                        try await accounts[1].fetchObject(forKey: key)?.units,
                    ]
                    try verify(units, equals: [-ourNumber, ourNumber], "units")
                    return time
                },
                baseline: {
                    baselineNumber += count
                    let time = try timed { for _ in 0..<count { try baseline.transfer() } }.time
                    try verify(baseline.units(), equals: [-baselineNumber, baselineNumber], "units of the baseline")
                    return time
                }
            )
        }
    }
}

/// The same transaction by hand, with JSON as the items' form.
private final class TransferBaseline {
    private let database: CDatabase
    private let begin: CStatement
    private let commit: CStatement
    private let select: [CStatement]
    private let upsert: [CStatement]

    private struct Account: Codable {
        var id: String
        var units: Int
    }

    init(_ database: CDatabase) throws {
        self.database = database
        let tables = ["left", "right"]
        for table in tables {
            try database.execute(
                """
                CREATE TABLE "\(table)" (
                    key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL
                );
                INSERT INTO "\(table)" VALUES ('a', '{"id":"a","units":0}', '2026-01-01', '2026-01-01');
                """)
        }
        begin = try CStatement(database, "BEGIN IMMEDIATE")
        commit = try CStatement(database, "COMMIT")
        select = try tables.map { try CStatement(database, "SELECT value FROM \"\($0)\" WHERE key = 'a'") }
        upsert = try tables.map {
            try CStatement(
                database,
                """
                INSERT INTO "\($0)" VALUES ('a', ?1, datetime('now'), datetime('now'))
                ON CONFLICT (key) DO UPDATE SET value = excluded.value, updatedAt = excluded.updatedAt
                """)
        }
    }

    func transfer() throws {
        try run(begin)
        for (index, change) in [-1, 1].enumerated() {
            var account = try account(index)
            account.units += change
            let data = try JSONEncoder().encode(account)
            try data.withUnsafeBytes { data in
                try database.check(
                    sqlite3_bind_blob(upsert[index].pointer, 1, data.baseAddress, CInt(data.count), nil))
                try run(upsert[index])
            }
        }
        try run(commit)
    }

    func units() throws -> [Int] { try [0, 1].map { try account($0).units } }

    private func account(_ index: Int) throws -> Account {
        let statement = select[index].pointer
        try database.check(sqlite3_step(statement), is: SQLITE_ROW)
        let data = Data(
            bytes: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0)))
        try database.check(sqlite3_reset(statement))
        return try JSONDecoder().decode(Account.self, from: data)
    }

    private func run(_ statement: CStatement) throws {
        try database.check(sqlite3_step(statement.pointer), is: SQLITE_DONE)
        try database.check(sqlite3_reset(statement.pointer))
    }
}
