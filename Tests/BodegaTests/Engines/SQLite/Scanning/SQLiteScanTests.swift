import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Bodega

/// The statements of scans, as SQLite itself explains and counts them.
@Suite("A scan of SQLite")
struct SQLiteScanTests {
    private let folder = TemporaryFolder()
    private let index = StorageIndex("n", isForText: false)
    private let compound = StorageIndex(.init("n", isForText: false), .init("m"))

    /// The scans over an index: each form of each bound, in both directions, from the start and after a place.
    private var scans: [StorageScan] { scans(of: index) }

    /// Scans of the items with certain keys of the first members.
    private func scans(of index: StorageIndex, equal: [StorageSortKey] = []) -> [StorageScan] {
        let keys: [StorageSortKey] = [.integer(1), .real(2.5), .text("a")]
        var scans: [StorageScan] = [.all(after: nil), .all(after: 7), .irregular(index)]
        let lowers = [.start] + keys.flatMap { [StorageSortKeyBound.before($0), .after($0)] }
        let uppers = [.before(.none), .end] + keys.flatMap { [StorageSortKeyBound.before($0), .after($0)] }
        for lower in lowers {
            for upper in uppers where lower < upper {
                scans.append(.approximate(index, equal: equal, from: lower, to: upper))
                for isDescending in [false, true] {
                    // A range that is not of the last member has no places.
                    let hasPlaces = equal.count == index.others.count
                    for key in [nil] + (hasPlaces ? [StorageSortKey.none] + keys : []) {
                        let place = key.map { StoragePlace(sortKey: $0, position: 3) }
                        scans.append(
                            .range(
                                index, equal: equal, from: lower, to: upper, isDescending: isDescending, after: place))
                    }
                }
            }
        }
        return scans
            + [.range(index, equal: equal, from: .before(.none), to: .end, isDescending: false, after: nil)]
    }

    /// The scans over a compound index.
    private var compoundScans: [StorageScan] {
        [[], [.integer(1)], [.real(2.5)], [.text("a")], [.none]].flatMap { scans(of: compound, equal: $0) }
            .filter { if case .all = $0 { false } else { true } }
    }

    private func engine(_ count: Int, size: Int = 0) async throws -> SQLiteStorageEngine {
        let engine = try SQLiteStorageEngine(openingFile: folder.file("items \(count)"), durability: .relaxed)
        let values = ["1", "1", "1", "2.5", "3", "\"a\"", "null", "\"\\u0061\""]
        let padding = String(repeating: "x", count: size)
        try await engine.write(
            (0..<count).map { number in
                let (first, second) = (values[number % 8], values[number / 8 % 8])
                return (CacheKey("\(number)"), Data(#"{"n":\#(first),"m":\#(second),"x":"\#(padding)"}"#.utf8))
            })
        try await engine.createIndex(index)
        return engine
    }

    private struct Statement: Sendable {
        var sql: String
        var plan: [String]
        var sorts: Int32
        var fullSteps: Int32
        var steps: Int32
    }

    /// SQLite's own explanation of a statement.
    private static func plan(of sql: String, _ db: Database) -> [String] {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(db.sqliteConnection, "EXPLAIN QUERY PLAN " + sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        var plan: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let detail = sqlite3_column_text(statement, 3) { plan.append(String(cString: detail)) }
        }
        return plan
    }

    /// Runs scans on one connection, and returns what SQLite did for each statement.
    private func statements(
        of scans: [StorageScan], _ engine: SQLiteStorageEngine, limit: Int = .max
    ) async throws -> [Statement] {
        try await engine.core.readLoosely { [table = engine.table] db in
            var before: [OpaquePointer: [Int32]] = [:]
            let counters = [SQLITE_STMTSTATUS_SORT, SQLITE_STMTSTATUS_FULLSCAN_STEP, SQLITE_STMTSTATUS_VM_STEP]
            func all() -> [OpaquePointer] {
                Array(
                    sequence(first: nil as OpaquePointer?) { sqlite3_next_stmt(db.sqliteConnection, $0) }
                        .dropFirst().prefix { $0 != nil }
                ).compactMap { $0 }
            }
            for statement in all() { before[statement] = counters.map { sqlite3_stmt_status(statement, $0, 0) } }
            for scan in scans {
                var count = 0
                try table.scan(scan, .data, in: db) { _ in
                    count += 1
                    return count < limit
                }
                _ = try table.count(scan, upTo: 10, in: db)
                _ = try table.count(scan, upTo: .max, in: db)
            }
            return all().compactMap { statement in
                guard let text = sqlite3_sql(statement) else { return nil }
                let sql = String(cString: text)
                let counts = zip(
                    counters.map { sqlite3_stmt_status(statement, $0, 0) }, before[statement] ?? [0, 0, 0]
                )
                .map { $0 - $1 }
                guard counts[2] > 0, sql.contains(table.name), !sql.contains("PRAGMA") else { return nil }
                let plan = Self.plan(of: sql, db)
                return Statement(sql: sql, plan: plan, sorts: counts[0], fullSteps: counts[1], steps: counts[2])
            }
        }
    }

    @Test("sorts nothing and reads no item outside of its range, also with statistics", arguments: [false, true])
    func plans(isAnalyzed: Bool) async throws {
        let engine = try await engine(400)
        if isAnalyzed { try await engine.core.writeUnreported { db in try db.execute(sql: "ANALYZE") } }
        let statements = try await statements(of: scans, engine)
        #expect(statements.count > 40)
        for statement in statements {
            #expect(!statement.plan.contains { $0.contains("TEMP B-TREE") }, "\(statement.sql)")
            #expect(statement.plan.contains { $0.hasPrefix("SEARCH") }, "\(statement.plan)")
            #expect(!statement.plan.contains { $0.hasPrefix("SCAN \(engine.table.plainName)") }, "\(statement.plan)")
            #expect(statement.sorts == 0, "\(statement.sql)")
        }
    }

    @Test("of a compound index reads no item outside of its ranges of each member", arguments: [false, true])
    func compoundPlans(hasOthers: Bool) async throws {
        let engine = try await engine(400)
        if !hasOthers { try await engine.removeIndex(index) }
        try await engine.createIndex(compound)
        let statements = try await statements(of: compoundScans, engine)
        #expect(statements.count > 40)
        for statement in statements {
            #expect(!statement.plan.contains { $0.contains("TEMP B-TREE") }, "\(statement.sql)")
            #expect(statement.sorts == 0 && statement.fullSteps == 0, "\(statement.sql)")
            let isByPlace = statement.plan.allSatisfy { $0.contains("INTEGER PRIMARY KEY (rowid=?)") }
            #expect(isByPlace || statement.plan.contains { $0.contains("value:n,text:m") }, "\(statement.plan)")
        }
        // By both members: SQLite takes an amount of steps that follows the result.
        for (limit, bound) in [(Int.max, Int32(2_500)), (1, 400)] {
            let key = StorageSortKeyBound.before(.integer(3))
            let scan = StorageScan.range(
                compound, equal: [.integer(1)], from: key, to: .after(.integer(3)), isDescending: false, after: nil)
            let steps = try await self.statements(of: [scan], engine, limit: limit).reduce(0) { $0 + $1.steps }
            #expect(steps < bound)
        }
    }

    @Test("of one key ends after the first item at the same cost, however many items have the key")
    func first() async throws {
        let range = StorageScan.range(
            index, from: .before(.integer(1)), to: .after(.integer(1)), isDescending: false, after: nil)
        let other = StorageScan.range(
            index, from: .before(.integer(1)), to: .after(.integer(1)), isDescending: true,
            after: StoragePlace(sortKey: .integer(1), position: 1))
        for scan in [range, other] {
            var steps: [Int32] = []
            for count in [80, 8_000] {
                let engine = try SQLiteStorageEngine(
                    openingFile: folder.file("\(count) \(steps.count)\(scan == range)"), durability: .relaxed)
                try await engine.write((0..<count).map { (CacheKey("\($0)"), Data(#"{"n":1}"#.utf8)) })
                try await engine.createIndex(index)
                let read = try await engine.core.readLoosely { [table = engine.table] db in
                    try table.scan(scan, .data, in: db) { _ in false }
                    return Array(
                        sequence(first: nil as OpaquePointer?) { sqlite3_next_stmt(db.sqliteConnection, $0) }
                            .dropFirst().prefix { $0 != nil }
                    ).compactMap { $0 }
                        .filter { String(cString: sqlite3_sql($0)).contains("json_extract") }
                        .reduce(0) { $0 + sqlite3_stmt_status($1, SQLITE_STMTSTATUS_VM_STEP, 0) }
                }
                steps.append(read)
            }
            #expect(steps[0] == steps[1] && steps[0] > 0, "\(steps)")
        }
    }
}
