#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// An object whose decodings are counted.
private struct Valued: Queryable {
    static let decodings = Locked(0)
    static let indexes = [
        Index("text", \Valued.text), Index("rank", \Valued.rank), Index("amount", \Valued.amount),
        Index("isDone", \Valued.isDone),
    ]

    var text: String
    var rank: Int?
    var amount: Double
    var isDone: Bool

    init(_ text: String, _ rank: Int?, _ amount: Double, _ isDone: Bool) {
        (self.text, self.rank, self.amount, self.isDone) = (text, rank, amount, isDone)
    }

    init(from decoder: any Decoder) throws {
        Self.decodings.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        rank = try container.decodeIfPresent(Int.self, forKey: .rank)
        amount = try container.decode(Double.self, forKey: .amount)
        isDone = try container.decode(Bool.self, forKey: .isDone)
    }

    private enum CodingKeys: CodingKey { case text, rank, amount, isDone }
}

/// The oracle is `Dictionary(grouping:)`.
@Suite(.serialized) struct PostgresValuesTests {

    @Test func `An index in PostgreSQL counts the values of a property`() async throws {
        let schema = try await Schemas.shared.schema()
        let engine = try await PostgresStorageEngine(
            connecting: schema.url, collection: "valued", options: .patient(maximumConnections: 2, partitions: 2))
        let storage = ObjectStorage<Valued>(storage: engine)
        try await storage.createIndexes()
        var random = SeededGenerator(seed: Seed.current)
        print("values in PostgreSQL: EMPORIUM_SEED=\(Seed.current)")
        let objects = (0..<600).map { _ in
            Valued(
                ["", "a", "é", "e\u{301}", "\"", "日本"].randomElement(using: &random) ?? "",
                [nil, 1, 2].randomElement(using: &random) ?? nil,
                [0.1, 7, -0.0, 1e300].randomElement(using: &random) ?? 0, .random(using: &random))
        }
        try await storage.store(objects.enumerated().map { (CacheKey("\($0)"), $1) })
        func check<Value: Hashable & Sendable>(
            _ property: any KeyPath<Valued, Value> & Sendable, _ query: Query<Valued> = Query(),
            among objects: [Valued]
        ) async throws -> Int {
            let before = Valued.decodings.withLock { $0 }
            let values = try await storage.values(of: property, matching: query)
            let expected = Dictionary(grouping: objects) { $0[keyPath: property] }.mapValues(\.count)
            #expect(Dictionary(values.map { ($0.value, $0.count) }) { _, _ in -1 } == expected, "\(property)")
            return Valued.decodings.withLock { $0 } - before
        }
        _ = try await check(\.text, among: objects)
        _ = try await check(\.amount, among: objects)
        let (rank, isDone) = (try await check(\.rank, among: objects), try await check(\.isDone, among: objects))
        #expect(rank < 20 && isDone < 20)
        let ranked = Query<Valued>(where: #Predicate { $0.rank != 2 })
        _ = try await check(\.rank, ranked, among: objects.filter { $0.rank != 2 })
        _ = try await check(\.text, ranked, among: objects.filter { $0.rank != 2 })
    }
}
#endif
