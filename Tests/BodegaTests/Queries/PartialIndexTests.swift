import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Bodega

/// Queries by an index of some objects. The right results come from Swift's arrays.
@Suite("An index of some objects", .serialized, .unhurriedReads)
struct PartialIndexTests {

    private struct Task: Queryable, Sendable {
        enum Kind: String, Codable { case note, call }

        var id: Int
        var isDone: Bool
        var kind: Kind
        var owner: String?
        var ratio: Double
        var date: Date

        static let indexes = [
            Index("date", \Task.date).where("isDone", \Task.isDone, equals: false),
            Index("date", \Task.date).where("ratio", \Task.ratio, equals: 1),
            Index("ratio", \Task.ratio).then("date", \Task.date).where("kind", \Task.kind, equals: .call)
                .where("owner", \Task.owner, equals: nil),
            Index("date", \Task.date).where("owner", \Task.owner, equals: "\u{E9}"),
        ]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            isDone = try container.decodeIfPresent(Bool.self, forKey: .isDone) ?? false
            kind = try container.decode(Kind.self, forKey: .kind)
            owner = try container.decodeIfPresent(String.self, forKey: .owner)
            ratio = try container.decode(Double.self, forKey: .ratio)
            date = try container.decode(Date.self, forKey: .date)
        }
    }

    /// Spellings of values, of which some count as equal, and some are known approximately.
    private static let numbers = [
        "1", "1.0", "0.99999999999999999", "0.99999999999999994", "1.0000000000000001", "1.00000000000000011",
        "1.00000000000000012", "1e0", "0.5", "2", "0.999999999999999944488848768742172978818416595458984375", "10e-1",
    ]
    private static let flags = ["true", "true", "true", "true", "true", "true", "false", "true", nil, "true", "null"]
    private static let owners = ["\"a\"", nil, "\"\u{E9}\"", "\"e\u{301}\"", "null", "\"\\u00e9\"", "\"b\""]

    private static func record(_ id: Int) -> Data {
        let members = [
            "\"id\":\(id)", flags[id % flags.count].map { "\"isDone\":\($0)" },
            owners[id / 2 % owners.count].map { "\"owner\":\($0)" }, "\"ratio\":\(numbers[id / 3 % numbers.count])",
            "\"kind\":\"\(id % 5 == 0 ? "call" : "note")\"", "\"date\":\(id * 7_919 % 500)",
        ]
        return Data("{\(members.compactMap { $0 }.joined(separator: ","))}".utf8)
    }

    enum Engine: CaseIterable { case memory, indexed, unindexed }

    private struct Case {
        let query: Query<Task>
        let isMatch: (Task) -> Bool
        /// The number of rows of a page of 20, in addition to those with escapes and the matches themselves.
        let rows: Int?

        init(rows: Int? = nil, _ predicate: Predicate<Task>, _ isMatch: @escaping (Task) -> Bool) {
            (query, self.rows, self.isMatch) = (Query(where: predicate), rows, isMatch)
        }
    }

    private static var cases: [Case] {
        let (middle, accented) = (Date(timeIntervalSinceReferenceDate: 250), "\u{E9}")
        return [
            Case(rows: 21, #Predicate { !$0.isDone }, { !$0.isDone }),
            Case(rows: 21, #Predicate { $0.isDone == false && $0.date < middle }, { !$0.isDone && $0.date < middle }),
            Case(#Predicate { $0.isDone }, { $0.isDone }),
            Case(#Predicate { $0.date < middle }, { $0.date < middle }),
            Case(#Predicate { !$0.isDone || $0.date < middle }, { !$0.isDone || $0.date < middle }),
            Case(rows: 21, #Predicate { $0.ratio == 1 }, { $0.ratio == 1 }),
            Case(rows: 21, #Predicate { $0.date > middle && $0.ratio == 1 }, { $0.ratio == 1 && $0.date > middle }),
            Case(#Predicate { $0.ratio < 1 }, { $0.ratio < 1 }),
            Case(#Predicate { $0.owner == nil }, { $0.owner == nil }),
            Case(rows: 21, #Predicate { $0.owner == accented }, { $0.owner == "\u{E9}" }),
            Case(rows: 21, #Predicate { $0.owner == accented && !$0.isDone }, { $0.owner == "\u{E9}" && !$0.isDone }),
        ]
    }

    @Test("finds the same as an array, and reads what a page needs", arguments: Engine.allCases)
    func pages(_ kind: Engine) async throws {
        let folder = TemporaryFolder()
        let records = (0..<1_000).map { (CacheKey("\($0)"), Self.record($0)) }
        let tasks = try records.map { try JSONDecoder().decode(Task.self, from: $0.1) }
        let irregular = records.count { String(decoding: $0.1, as: UTF8.self).contains("\\u") }
        let counting = CountingItems(
            of: kind == .memory
                ? MemoryStorageEngine()
                : try SQLiteStorageEngine(openingFile: folder.file("tasks"), durability: .relaxed))
        let storage = ObjectStorage<Task>(storage: counting)
        try await counting.write(Array(records.prefix(600)))
        if kind != .unindexed {
            try await storage.createIndexes()
            #expect(try await counting.indexes?.fetchIndexes().count == 4)
        } else {
            storage.indexCreation.begin {
                []
            } _: { _ in
            }
        }
        try await counting.write(Array(records.dropFirst(600)))
        for (number, test) in Self.cases.enumerated() {
            let matches = tasks.filter(test.isMatch)
            let sorted = matches.enumerated().sorted { left, right in
                left.element.date == right.element.date
                    ? left.offset < right.offset : left.element.date < right.element.date
            }.map(\.element.id)
            let descending = matches.enumerated().sorted { left, right in
                left.element.date == right.element.date
                    ? left.offset < right.offset : left.element.date > right.element.date
            }.map(\.element.id)
            let queries = [
                (test.query, matches.map(\.id)), (test.query.sorted(by: [SortDescriptor(\.date)]), sorted),
                (test.query.sorted(by: [SortDescriptor(\.date, order: .reverse)]), descending),
            ]
            for (query, expected) in queries {
                _ = counting.take()
                let first = try await storage.fetch(query, limit: 20)
                if let rows = test.rows, kind != .unindexed {
                    // Missing values and spellings of other programs are read beside the page.
                    let limit = query.order.isEmpty ? 400 : rows + irregular + 91 + 143
                    #expect(counting.count <= limit, "case \(number)")
                }
                var (found, cursor) = (first.objects.map(\.id), first.next)
                while let next = cursor, found.count <= tasks.count {
                    let page = try await storage.fetch(query, limit: 50, after: next)
                    found += page.objects.map(\.id)
                    cursor = page.next
                }
                #expect(found == expected, "case \(number)")
                let all = try await storage.fetch(query).objects.map(\.id)
                #expect(all == expected, "case \(number)")
                #expect(try await storage.count(query) == expected.count, "case \(number)")
                #expect(try await storage.exists(query) == !expected.isEmpty, "case \(number)")
            }
        }
    }

    @Test("reads a page of the items that meet the condition, beside any number of others")
    func rows() async throws {
        let folder = TemporaryFolder()
        let index = StorageIndex("n", isForText: false).where("isOpen", equals: .integer(1), isForText: false)
        for engine: any StorageBackend in [
            MemoryStorageEngine(),
            try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed),
        ] {
            try await engine.write(
                (0..<5_000).map {
                    (CacheKey("\($0)"), Data("{\"n\":\($0 * 7 % 5_000),\"isOpen\":\($0 % 10 == 0)}".utf8))
                })
            try await engine.createIndex(index)
            for filter in ["@.isOpen == true", "@.n >= 100 && true == @.isOpen", "@.isOpen == true && @.n < 4000"] {
                let filter = try JSONFilterParser.parse(filter)
                let query = StorageQuery<CacheKey>(
                    condition: filter.condition, order: [QueryTerm(path: "n", isDescending: false)]
                ) { item, receive in
                    let isMatch = item.data.withUnsafeBytes { filter.accepts($0, 0..<$0.count) }
                    if isMatch { receive(item.key) }
                    return isMatch ? [item.sortKey ?? .none] : nil
                }
                let reader = StorageReader(engine)
                let page = try await query.page(from: reader, limit: 20, after: nil)
                #expect(page.matches.count == 20)
                #expect(reader.itemCount == 21, "\(page.plan.explanation)")
                #expect(page.plan.explanation.contains("n where @.isOpen == 1"))
            }
        }
    }

    @Test("is used by SQLite, has its entries only, and is small")
    func entries() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("items")
        let engine = try SQLiteStorageEngine(openingFile: file, durability: .relaxed)
        try await engine.write(
            (0..<20_000).map {
                (CacheKey("\($0)"), Data("{\"n\":\($0 * 7),\"state\":\"\($0 % 10 == 0 ? "open" : "done")\"}".utf8))
            })
        func pages() async throws -> Int {
            try await DatabaseQueue(path: file.path).read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        }
        let whole = StorageIndex(.init("state"), .init("n", isForText: false))
        let partial = StorageIndex("n", isForText: false).where("state", equals: .text("open"))
        var sizes: [Int] = []
        for index in [partial, whole] {
            try await DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
            let before = try await pages()
            try await engine.createIndex(index)
            try await DatabaseQueue(path: file.path).writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
            sizes.append(try await pages() - before)
        }
        #expect(sizes[0] * 5 < sizes[1], "\(sizes) pages")
        try await engine.removeIndex(whole)
        let column = try SQLiteColumn(of: partial, engine.table, after: [.text("open")])
        let irregular = try SQLiteConditions(ofIrregular: SQLiteIndex(partial, of: engine.table))
        let conditions = [
            column.conditions(from: .start, to: .before(.none)), column.conditions(equals: .integer(7)), irregular,
        ]
        for conditions in conditions {
            let plan = try await DatabaseQueue(path: file.path).read { db in
                let sql = "EXPLAIN QUERY PLAN SELECT value FROM data WHERE \(conditions.sql)"
                let statement = try db.makeStatement(sql: sql)
                // Parameters without values are NULL.
                statement.setUncheckedArguments(StatementArguments())
                return try Row.fetchAll(statement).map { $0["detail"] as String }
            }
            #expect(plan.count == 1 && plan[0].contains("USING INDEX emporium_index:"), "\(plan)")
        }
        let check = try await DatabaseQueue(path: file.path).read {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
    }

    @Test("has conditions with any texts, integers and null, and no others")
    func conditions() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed)
        let constants: [StorageSortKey] = [
            .none, .integer(0), .integer(-7), .integer((1 << 48) - 1), .text(""), .text("null"), .text("7"),
            .text("a:b,c^d=e"), .text("it's \"A\""), .text("\u{E9}"), .text("e\u{301}"), .text("\u{301}"),
            .text("A"), .text("a"), .text(String(repeating: "x", count: 200)),
        ]
        let paths = ["a,b", "^", "A:x", "text=", "\u{E9}", "\u{301}"]
        let memory = MemoryStorageEngine()
        var indexes: Set<StorageIndex> = []
        for (number, constant) in constants.enumerated() {
            var index = StorageIndex(paths[number % paths.count]).where(
                paths[(number + 1) % paths.count], equals: constant, isForText: number % 2 == 0)
            if number % 3 == 0 { index = index.where("more", equals: constants[(number + 1) % constants.count]) }
            indexes.insert(index)
            try await engine.createIndex(index)
            try await memory.createIndex(index)
            #expect(StorageIndex(index.first, index.others) != index)
        }
        #expect(indexes.count == constants.count)
        #expect(try await engine.fetchIndexes() == indexes)
        #expect(try await memory.fetchIndexes() == indexes)
        for index in indexes { try await engine.removeIndex(index) }
        #expect(try await engine.fetchIndexes().isEmpty)
        let refused: [StorageSortKey] = [
            .real(1.5), .integer(1 << 48), .integer(.min), .text("a\0"), .text("\n"),
            .text(String(repeating: "x", count: 201)),
        ]
        for constant in refused {
            let index = StorageIndex("a").where("b", equals: constant)
            for engine: any StorageBackend in [engine, memory] {
                await #expect(throws: StorageError.self) { try await engine.createIndex(index) }
            }
        }
    }
}
