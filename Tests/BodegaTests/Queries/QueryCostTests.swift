import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// What queries decode and read, counted. The right results come from Swift's arrays.
@Suite("The cost of a query", .serialized, .unhurriedReads)
struct QueryCostTests {

    /// An object that is counted when it is decoded.
    private struct Ticket: Queryable, Sendable {
        var id: Int
        var isDone: Bool
        /// Differs from `isDone` only in its place: it is set in the last tenth by date.
        var isLate: Bool
        var status: String
        var date: Date
        var rank: Int

        static let decoded = Locked(0)
        static let indexes = [
            Index("isDone", \Ticket.isDone), Index("isLate", \Ticket.isLate), Index("status", \Ticket.status),
            Index("date", \Ticket.date), Index("rank", \Ticket.rank),
        ]

        init(_ id: Int, of count: Int) {
            self.id = id
            isDone = id % 2 == 0
            status = ["open", "held", "new", "closed"][id % 4]
            // In another order than that of insertion, with fractions, and each one twice.
            let place = (id / 2 * 2 * 7919) % count
            date = Date(timeIntervalSinceReferenceDate: 7e8 + Double(place) + 0.25)
            isLate = place >= count - count / 10
            rank = id * 31 % 5
        }

        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            isDone = try container.decode(Bool.self, forKey: .isDone)
            isLate = try container.decode(Bool.self, forKey: .isLate)
            status = try container.decode(String.self, forKey: .status)
            date = try container.decode(Date.self, forKey: .date)
            rank = try container.decode(Int.self, forKey: .rank)
        }
    }

    private typealias Tickets = ObjectStorage<Ticket>

    /// A query with the numbers of the tickets that it has to find.
    private struct Case {
        let name: String
        /// The maximum number of objects that it decodes, and of rows that it reads with indexes. Without a limit for
        /// rows, they depend on the number of items.
        let decoded: Int
        let rows: Int?
        let expected: ([Ticket]) -> [Int]
        let run: (Tickets) async throws -> [Int]
    }

    private static func page(_ query: Query<Ticket>) -> (Tickets) async throws -> [Int] {
        { try await $0.fetch(query, limit: 50).objects.map(\.id) }
    }

    private static func byDate(_ tickets: [Ticket], isDescending: Bool = false) -> [Ticket] {
        tickets.sorted {
            $0.date == $1.date ? $0.id < $1.id : isDescending ? $0.date > $1.date : $0.date < $1.date
        }
    }

    private static func cases(_ count: Int) -> [Case] {
        let middle = Date(timeIntervalSinceReferenceDate: 7e8 + Double(count / 2))
        let open = "open"
        let notDone = Query<Ticket>(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date))
        return [
            Case(name: "a page by date of half of the items", decoded: 51, rows: 220) { tickets in
                byDate(tickets.filter { !$0.isDone }).prefix(50).map(\.id)
            } run: {
                try await page(notDone)($0)
            },
            Case(name: "the same, compared with false", decoded: 51, rows: 220) { tickets in
                byDate(tickets.filter { !$0.isDone }).prefix(50).map(\.id)
            } run: {
                try await page(
                    Query(where: #Predicate { $0.isDone == false }, sortedBy: SortDescriptor(\.date)))($0)
            },
            Case(name: "a page, last date first", decoded: 51, rows: 220) { tickets in
                byDate(tickets.filter { !$0.isDone }, isDescending: true).prefix(50).map(\.id)
            } run: {
                try await page(
                    Query(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date, order: .reverse)))($0)
            },
            Case(name: "the second page", decoded: 103, rows: 440) { tickets in
                byDate(tickets.filter { !$0.isDone }).dropFirst(50).prefix(50).map(\.id)
            } run: {
                let first = try await $0.fetch(notDone, limit: 50)
                return try await $0.fetch(notDone, limit: 50, after: first.next).objects.map(\.id)
            },
            Case(name: "a page of items that all come late in the order", decoded: 51, rows: nil) { tickets in
                byDate(tickets.filter(\.isLate)).prefix(50).map(\.id)
            } run: {
                try await page(Query(where: #Predicate { $0.isLate }, sortedBy: SortDescriptor(\.date)))($0)
            },
            Case(name: "a page by two properties", decoded: 51, rows: nil) { tickets in
                tickets.filter { $0.status == "open" }
                    .sorted { ($0.rank, $0.date, $0.id) < ($1.rank, $1.date, $1.id) }.prefix(50).map(\.id)
            } run: {
                try await page(
                    Query(
                        where: #Predicate { $0.status == open },
                        sortedBy: SortDescriptor(\.rank), SortDescriptor(\.date)))($0)
            },
            // Each candidate must be decoded to know whether it matches, but only the first fifth is read.
            Case(name: "a page by two properties, decided in Swift", decoded: 800, rows: count / 5 + 1) { tickets in
                tickets.filter { $0.id % 2 == 1 }
                    .sorted { ($0.rank, $0.date, $0.id) < ($1.rank, $1.date, $1.id) }.prefix(50).map(\.id)
            } run: {
                try await page(
                    Query(
                        where: #Predicate { $0.id % 2 == 1 }, sortedBy: SortDescriptor(\.rank), SortDescriptor(\.date)
                    ))($0)
            },
            Case(name: "a page in insertion order", decoded: 51, rows: 220) { tickets in
                tickets.filter { $0.date >= middle }.prefix(50).map(\.id)
            } run: {
                try await page(Query(where: #Predicate { $0.date >= middle }))($0)
            },
            Case(name: "the first with a status", decoded: 1, rows: 70) { tickets in
                tickets.first { $0.status == "open" }.map { [$0.id] } ?? []
            } run: {
                try await $0.first(Query(where: #Predicate { $0.status == open })).map { [$0.object.id] } ?? []
            },
            Case(name: "the first from a date on", decoded: 1, rows: 70) { tickets in
                tickets.first { $0.date >= middle }.map { [$0.id] } ?? []
            } run: {
                try await $0.first(Query(where: #Predicate { $0.date >= middle })).map { [$0.object.id] } ?? []
            },
            Case(name: "whether there is one from a date on", decoded: 1, rows: 1) { tickets in
                tickets.contains { $0.date >= middle } ? [1] : [0]
            } run: {
                [try await $0.exists(Query(where: #Predicate { $0.date >= middle })) ? 1 : 0]
            },
            Case(name: "whether there is one that meets two conditions", decoded: 1, rows: 8) { tickets in
                tickets.contains { !$0.isDone && $0.date >= middle } ? [1] : [0]
            } run: {
                [try await $0.exists(Query(where: #Predicate { !$0.isDone && $0.date >= middle })) ? 1 : 0]
            },
            Case(name: "whether there is one that there isn't", decoded: 0, rows: 0) { _ in
                [0]
            } run: {
                [try await $0.exists(Query(where: #Predicate { $0.rank > 4 })) ? 1 : 0]
            },
            Case(name: "the largest with a condition", decoded: 1, rows: 70) { tickets in
                [tickets.filter { !$0.isDone }.map { Int($0.date.timeIntervalSinceReferenceDate) }.max() ?? 0]
            } run: {
                let date = try await $0.maximum(of: \.date, Query(where: #Predicate { !$0.isDone }))
                return [date.map { Int($0.timeIntervalSinceReferenceDate) } ?? 0]
            },
            Case(name: "the smallest with a condition", decoded: 1, rows: 70) { tickets in
                [tickets.filter { $0.status == "open" && $0.isDone }.map(\.rank).min() ?? -1]
            } run: {
                [try await $0.minimum(of: \.rank, Query(where: #Predicate { $0.status == open && $0.isDone })) ?? -1]
            },
        ]
    }

    enum Engine { case indexed, unindexed, memory, indexedMemory }

    @Test(
        "follows the limit, not the number of items",
        arguments: [600, 4_000], [Engine.indexed, .unindexed, .memory, .indexedMemory])
    func follows(count: Int, _ kind: Engine) async throws {
        let folder = TemporaryFolder()
        let tickets = (0..<count).map { Ticket($0, of: count) }
        let items = tickets.map { (CacheKey("\($0.id)"), $0) }
        let sqlite = try SQLiteStorageEngine(openingFile: folder.file("tickets"), durability: .relaxed)
        let isInMemory = kind == .memory || kind == .indexedMemory
        let counting = CountingItems(of: isInMemory ? MemoryStorageEngine() : sqlite)
        let storage = Tickets(storage: counting)
        try await storage.store(items)
        let isIndexed = kind == .indexed || kind == .indexedMemory
        if isIndexed {
            try await storage.createIndexes()
        } else {
            // Without the declared indexes being created by the first query.
            storage.indexCreation.begin {
                []
            } _: { _ in
            }
        }
        for test in Self.cases(count) {
            Ticket.decoded.withLock { $0 = 0 }
            _ = counting.take()
            let found = try await test.run(storage)
            let (decoded, rows) = (Ticket.decoded.withLock { $0 }, counting.count)
            #expect(found == test.expected(tickets), "\(test.name)")
            #expect(decoded <= test.decoded, "\(test.name) of \(count)")
            if isIndexed, let bound = test.rows { #expect(rows <= bound, "rows of \(test.name) of \(count)") }
        }
    }

    @Test("without a limit reads each candidate once")
    func all() async throws {
        let folder = TemporaryFolder()
        let tickets = (0..<1_000).map { Ticket($0, of: 1_000) }
        let engine = CountingItems(
            of: try SQLiteStorageEngine(openingFile: folder.file("tickets"), durability: .relaxed))
        let storage = Tickets(storage: engine)
        try await storage.store(tickets.map { (CacheKey("\($0.id)"), $0) })
        try await storage.createIndexes()
        Ticket.decoded.withLock { $0 = 0 }
        let found = try await storage.fetch(
            Query(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.date))
        ).objects
        #expect(found.map(\.id) == Self.byDate(tickets.filter { !$0.isDone }).map(\.id))
        #expect(Ticket.decoded.withLock { $0 } == 500)
        #expect(engine.count == 500)
    }

    @Test("decodes what a page needs, although some of its records can't be decoded and are left out")
    func undecodable() async throws {
        let folder = TemporaryFolder()
        let tickets = (0..<1_200).map { Ticket($0, of: 1_200) }
        // Later ones come first, so that each displaces others.
        let order = Self.byDate(tickets, isDescending: true)
        let broken = Set(order.filter { $0.id % 3 == 0 }.map(\.id))
        for engine in [
            MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("tickets"), durability: .relaxed),
        ] as [any StorageEngine] {
            let storage = Tickets(storage: engine)
            storage.indexCreation.begin {
                []
            } _: { _ in
            }
            try await engine.write(
                order.reversed().map { ticket in
                    let json = try JSONObjectCoder.json.encode(ticket)
                    // Its place is known, and the object lacks a value.
                    let text = String(decoding: json, as: UTF8.self)
                    let data =
                        broken.contains(ticket.id) ? Data(text.replacing("\"rank\"", with: "\"rang\"").utf8) : json
                    return (CacheKey("\(ticket.id)"), data)
                })
            let query = Query<Ticket>(
                where: #Predicate { $0.status == "open" || $0.isDone },
                sortedBy: SortDescriptor(\.date, order: .reverse))
            let expected = order.filter { ($0.status == "open" || $0.isDone) && !broken.contains($0.id) }
            let page = try await storage.fetch(query, limit: 50, omittingUndecodable: true)
            #expect(page.objects.map(\.date) == expected.prefix(50).map(\.date))
            let next = try await storage.fetch(query, limit: 50, after: page.next, omittingUndecodable: true)
            #expect(next.objects.map(\.date) == expected.dropFirst(50).prefix(50).map(\.date))
            await #expect(throws: StorageError.self) { try await storage.fetch(query, limit: 50) }
        }
    }
}
