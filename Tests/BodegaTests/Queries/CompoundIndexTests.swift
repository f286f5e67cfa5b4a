import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Queries by an index over several properties. The right results come from Swift's arrays.
@Suite("An index over several properties", .serialized, .unhurriedReads)
struct CompoundIndexTests {

    private struct Job: Queryable, Sendable {
        var id: Int
        var isDone: Bool
        var status: String
        var rank: Int?
        var date: Date

        static let decoded = Locked(0)
        static let indexes = [
            Index("isDone", \Job.isDone).then("date", \Job.date),
            Index("status", \Job.status).then("rank", \Job.rank).then("date", \Job.date),
        ]

        /// - Parameter place: The place in the order of the dates. The last tenth is done.
        init(_ id: Int, of count: Int) {
            self.id = id
            let place = (id / 2 * 2 * 7_919) % count
            isDone = place >= count - count / 10
            // The first spelling is one about which an index for text knows nothing.
            status = id % 200 == 3 ? "e\u{301}" : ["open", "held", "new", "\u{E9}"][id % 4]
            rank = id % 7 == 0 ? nil : id * 31 % 5
            date = Date(timeIntervalSinceReferenceDate: 7e8 + Double(place) + 0.25)
        }

        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            isDone = try container.decode(Bool.self, forKey: .isDone)
            status = try container.decode(String.self, forKey: .status)
            rank = try container.decodeIfPresent(Int.self, forKey: .rank)
            date = try container.decode(Date.self, forKey: .date)
        }
    }

    enum Engine: CaseIterable { case memory, indexed, unindexed }

    private struct Case {
        let name: String
        let query: Query<Job>
        let isMatch: (Job) -> Bool
        /// The order; items that it does not decide about are in insertion order.
        let order: ((Job, Job) -> Bool)?
        /// The maximum number of rows that a page of 50 reads.
        let rows: Int

        init(
            _ name: String, rows: Int, _ query: Query<Job>, order: ((Job, Job) -> Bool)? = nil,
            isMatch: @escaping (Job) -> Bool
        ) {
            (self.name, self.query, self.isMatch, self.order, self.rows) = (name, query, isMatch, order, rows)
        }

        func expected(of jobs: [Job]) -> [Int] {
            let matches = jobs.filter(isMatch)
            guard let order else { return matches.map(\.id) }
            return matches.enumerated().sorted { left, right in
                if order(left.element, right.element) { return true }
                return !order(right.element, left.element) && left.offset < right.offset
            }.map(\.element.id)
        }
    }

    private static func cases(_ count: Int) -> [Case] {
        let unknown = count / 200 + 1
        let middle = Date(timeIntervalSinceReferenceDate: 7e8 + Double(count / 2))
        let late = Date(timeIntervalSinceReferenceDate: 7e8 + Double(count) * 0.95)
        let (open, accented) = ("open", "\u{E9}")
        return [
            Case(
                "equal, in order", rows: 51, Query(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { !$0.isDone }),
            Case(
                "equal, in descending order", rows: 51,
                Query(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date, order: .reverse)),
                order: { $0.date > $1.date }, isMatch: { !$0.isDone }),
            Case(
                "equal, where all matches come late in the order", rows: 51,
                Query(where: #Predicate { $0.isDone }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.isDone }),
            Case(
                "equal with a range, in order", rows: 51,
                Query(where: #Predicate { $0.isDone && $0.date >= late }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.isDone && $0.date >= late }),
            Case(
                "two equal, in order", rows: 51 + unknown,
                Query(where: #Predicate { $0.status == open && $0.rank == 2 }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.status == "open" && $0.rank == 2 }),
            Case(
                "one of them nil", rows: 51 + unknown,
                Query(
                    where: #Predicate { $0.status == open && $0.rank == nil },
                    sortedBy: SortDescriptor(\.date, order: .reverse)),
                order: { $0.date > $1.date }, isMatch: { $0.status == "open" && $0.rank == nil }),
            Case(
                "a text with two spellings", rows: 51 + unknown,
                Query(where: #Predicate { $0.status == accented && $0.rank == 1 }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.status == accented && $0.rank == 1 }),
            Case(
                "two equal and a range, in insertion order", rows: count,
                Query(where: #Predicate { $0.status == open && $0.rank == 2 && $0.date < middle }),
                isMatch: { $0.status == "open" && $0.rank == 2 && $0.date < middle }),
            Case(
                "equal with a range of the second of three", rows: count,
                Query(where: #Predicate { $0.status == open && $0.rank ?? 9 < 2 }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.status == "open" && $0.rank ?? 9 < 2 }),
            Case(
                "only the first of three", rows: count, Query(where: #Predicate { $0.status == open }),
                isMatch: { $0.status == "open" }),
            Case(
                "only the second", rows: count, Query(where: #Predicate { $0.date < middle }),
                isMatch: { $0.date < middle }),
            Case(
                "either of two", rows: count,
                Query(where: #Predicate { $0.status == open || !$0.isDone }, sortedBy: SortDescriptor(\.date)),
                order: { $0.date < $1.date }, isMatch: { $0.status == "open" || !$0.isDone }),
            Case(
                "in the order of two", rows: count,
                Query(
                    where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date, order: .reverse),
                    SortDescriptor(\.rank)),
                order: { left, right in
                    if left.date != right.date { return left.date > right.date }
                    return (left.rank ?? 9) < (right.rank ?? 9)
                }, isMatch: { !$0.isDone }),
        ]
    }

    @Test("finds the same as an array, and reads what a page needs", arguments: [400, 2_000], Engine.allCases)
    func pages(count: Int, _ kind: Engine) async throws {
        let isIndexed = kind != .unindexed
        let folder = TemporaryFolder()
        let jobs = (0..<count).map { Job($0, of: count) }
        let counting = CountingItems(
            of: kind == .memory
                ? MemoryStorageEngine()
                : try SQLiteStorageEngine(openingFile: folder.file("jobs"), durability: .relaxed))
        let storage = ObjectStorage<Job>(storage: counting)
        try await storage.store(jobs.map { (CacheKey("\($0.id)"), $0) })
        if isIndexed {
            try await storage.createIndexes()
        } else {
            storage.indexCreation.begin {
                []
            } _: { _ in
            }
        }
        for test in Self.cases(count) {
            let expected = test.expected(of: jobs)
            var (found, cursor, pages) = ([Int](), QueryCursor?.none, 0)
            repeat {
                (_, _) = (counting.take(), Job.decoded.withLock { $0 = 0 })
                let page = try await storage.fetch(test.query, limit: 50, after: cursor)
                let decoded = Job.decoded.withLock { $0 }
                if test.rows < count { #expect(decoded <= test.rows, "\(test.name)") }
                // The next page begins with a read of the last item.
                if isIndexed { #expect(counting.count <= test.rows + (cursor == nil ? 0 : 1), "\(test.name)") }
                found += page.objects.map(\.id)
                (cursor, pages) = (page.next, pages + 1)
            } while cursor != nil && pages < 5
            #expect(found == Array(expected.prefix(pages * 50)), "\(test.name)")
            #expect(try await storage.count(test.query) == expected.count, "\(test.name)")
            #expect(try await storage.exists(test.query) == !expected.isEmpty, "\(test.name)")
            let all = try await storage.fetch(test.query).objects.map(\.id)
            #expect(all == expected, "\(test.name)")
        }
    }

    /// A reading whose member can be missing, and whose numbers are spelled in ways that programs convert differently.
    private struct Reading: Queryable, Sendable {
        var id: Int
        var ratio: Double
        var isOn: Bool
        var date: Date

        static let indexes = [
            Index("ratio", \Reading.ratio).then("isOn", \Reading.isOn).then("date", \Reading.date),
            Index("isOn", \Reading.isOn).then("ratio", \Reading.ratio),
        ]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            ratio = try container.decode(Double.self, forKey: .ratio)
            isOn = try container.decodeIfPresent(Bool.self, forKey: .isOn) ?? true
            date = try container.decode(Date.self, forKey: .date)
        }
    }

    @Test("finds items beside an equal key: without the member, and with numbers that round to it")
    func neighbors() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("readings"), durability: .relaxed)
        let numbers = [
            "1", "1.0", "0.99999999999999999", "0.99999999999999994", "1.0000000000000001", "1.00000000000000011",
            "1.00000000000000012", "1e0", "0.5", "2",
            "0.999999999999999944488848768742172978818416595458984375", "10e-1",
        ]
        let flags = ["\"isOn\":true,", "\"isOn\":false,", "", "\"isOn\":null,"]
        let records = (0..<numbers.count * flags.count * 3).map { id in
            let (number, flag) = (numbers[id % numbers.count], flags[id / numbers.count % flags.count])
            return (CacheKey("\(id)"), Data("{\"id\":\(id),\(flag)\"ratio\":\(number),\"date\":\(id * 7 % 11)}".utf8))
        }
        try await engine.write(records)
        let storage = ObjectStorage<Reading>(storage: engine)
        try await storage.createIndexes()
        let readings = try records.map { try JSONDecoder().decode(Reading.self, from: $0.1) }
        let queries: [(Query<Reading>, (Reading) -> Bool)] = [
            (Query(where: #Predicate { $0.ratio == 1 && $0.isOn }), { $0.ratio == 1 && $0.isOn }),
            (Query(where: #Predicate { $0.ratio == 1 && !$0.isOn }), { $0.ratio == 1 && !$0.isOn }),
            (Query(where: #Predicate { $0.isOn && $0.ratio >= 1 }), { $0.isOn && $0.ratio >= 1 }),
            (Query(where: #Predicate { $0.isOn && $0.ratio < 1 }), { $0.isOn && $0.ratio < 1 }),
            (Query(where: #Predicate { $0.isOn == false && $0.ratio > 1 }), { !$0.isOn && $0.ratio > 1 }),
        ]
        for (number, (query, isMatch)) in queries.enumerated() {
            let expected = readings.filter(isMatch)
            let byDate = expected.enumerated().sorted {
                $0.element.date == $1.element.date ? $0.offset < $1.offset : $0.element.date < $1.element.date
            }.map(\.element.id)
            let sorted = query.sorted(by: [SortDescriptor(\.date)])
            for (query, expected) in [(query, expected.map(\.id)), (sorted, byDate)] {
                var (found, cursor) = ([Int](), QueryCursor?.none)
                repeat {
                    let page = try await storage.fetch(query, limit: 5, after: cursor)
                    found += page.objects.map(\.id)
                    cursor = page.next
                } while cursor != nil && found.count <= readings.count
                #expect(found == expected, "query \(number)")
                #expect(try await storage.count(query) == expected.count, "query \(number)")
            }
        }
    }

    @Test("has names of members with commas and other characters")
    func names() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(openingFile: folder.file("items"), durability: .relaxed)
        let paths = ["a,b", "^", "^,", "A", "text:x", ",", "\u{E9}", "\u{301}", "q'\u{301}"]
        let item = "{" + paths.map { "\"\($0)\":7" }.joined(separator: ",") + "}"
        try await engine.write(Data(item.utf8), key: CacheKey("x"))
        var indexes: Set<StorageIndex> = []
        for (first, second) in zip(paths, paths.dropFirst() + paths.prefix(1)) {
            let index = StorageIndex(.init(first), .init(second, isForText: false))
            indexes.insert(index)
            indexes.insert(StorageIndex(first))
            try await engine.createIndex(index)
            try await engine.createIndex(StorageIndex(first))
            let range = StorageScan.range(
                index, equal: [.integer(7)], from: .before(.integer(7)), to: .after(.integer(7)), isDescending: false,
                after: nil)
            #expect(try await engine.count(range) == 1)
        }
        #expect(try await engine.fetchIndexes() == indexes)
        for index in indexes { try await engine.removeIndex(index) }
        #expect(try await engine.fetchIndexes().isEmpty)
        let large = StorageIndex(.init("a"), (0..<8).map { .init("\($0)") })
        await #expect(throws: StorageError.self) { try await engine.createIndex(large) }
    }
}
