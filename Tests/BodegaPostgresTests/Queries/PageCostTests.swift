#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// What queries on PostgreSQL decode. The right results come from Swift's arrays.
@Suite(.serialized)
struct PageCostTests {

    private struct Job: Queryable, Sendable, Equatable {
        var id: Int
        var isDone: Bool
        var due: Date

        static let decoded = Locked(0)
        static let indexes = [Index("isDone", \Job.isDone), Index("due", \Job.due)]

        init(_ id: Int) {
            self.id = id
            isDone = id % 2 == 0
            due = Date(timeIntervalSinceReferenceDate: Double(id * 7919 % 2_000) + 0.25)
        }

        init(from decoder: any Decoder) throws {
            Self.decoded.withLock { $0 += 1 }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            isDone = try container.decode(Bool.self, forKey: .isDone)
            due = try container.decode(Date.self, forKey: .due)
        }
    }

    @Test func `A limit bounds the number of objects that a query decodes`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "tasks", options: .patient(maximumConnections: 2, partitions: 2))
        let tasks = (0..<2_000).map { Job($0) }
        let storage = ObjectStorage<Job>(storage: engine)
        try await storage.store(tasks.map { (CacheKey("\($0.id)"), $0) })
        try await storage.createIndexes()
        let middle = Date(timeIntervalSinceReferenceDate: 1_000)
        let notDone = tasks.filter { !$0.isDone }

        func decoded<Value>(_ body: () async throws -> Value) async throws -> (Value, Int) {
            Job.decoded.withLock { $0 = 0 }
            let value = try await body()
            return (value, Job.decoded.withLock { $0 })
        }
        let byDue = Query<Job>(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.due))
        let (page, pageCost) = try await decoded { try await storage.fetch(byDue, limit: 50).objects }
        #expect(page == Array(notDone.sorted { $0.due < $1.due }.prefix(50)))
        #expect(pageCost <= 51)
        let (exists, existsCost) = try await decoded {
            try await storage.exists(Query(where: #Predicate { $0.due >= middle }))
        }
        #expect(exists && existsCost == 1)
        let (largest, largestCost) = try await decoded {
            try await storage.maximum(of: \.due, Query(where: #Predicate { !$0.isDone }))
        }
        #expect(largest == notDone.map(\.due).max() && largestCost == 1)
        let (first, firstCost) = try await decoded {
            try await storage.first(Query(where: #Predicate { !$0.isDone && $0.due >= middle }))
        }
        #expect(first?.object == notDone.first { $0.due >= middle } && firstCost == 1)
    }

    @Test func `A cancelled query stops within some hundred objects`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "tasks", options: .patient(maximumConnections: 2, partitions: 2))
        let storage = ObjectStorage<Job>(storage: engine)
        try await storage.store((0..<2_000).map { (CacheKey("\($0)"), Job($0)) })
        Job.decoded.withLock { $0 = 0 }
        let reading = Task {
            try await storage.sum(of: \.id, Query(where: #Predicate { task in task.id >= 0 }))
        }
        while Job.decoded.withLock({ $0 == 0 }) { await Task.yield() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(Job.decoded.withLock { $0 } < 2_000)
        #expect(try await storage.count(Query()) == 2_000)
    }
}
#endif
