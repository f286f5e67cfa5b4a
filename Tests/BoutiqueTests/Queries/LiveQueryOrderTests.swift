import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// A price with orders that no index has.
private struct Price: Codable, Sendable, Equatable, Queryable {
    enum Grade: String, Codable, Comparable, Sendable {
        case low, medium, high

        private var rank: Int { [.low, .medium, .high].firstIndex(of: self) ?? 0 }
        static func < (left: Grade, right: Grade) -> Bool { left.rank < right.rank }
    }

    var id: Int
    var amount: Decimal
    var grade: Grade?

    static let indexes = [Index("amount", \Price.amount), Index("grade", \Price.grade)]
    var key: CacheKey { CacheKey("price-\(id)") }
}

@MainActor
@Suite struct LiveQueryOrderTests {

    /// The oracle is `sorted(using:)` of Foundation.
    @Test(arguments: [false, true])
    func `A window in an order that only Swift knows follows changes and loads more`(_ isSQLite: Bool) async throws {
        let folder = TemporaryFolder()
        let engine: any StorageEngine =
            isSQLite ? try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed) : MemoryStorageEngine()
        let prices = ObjectStorage<Price>(storage: engine)
        try await prices.createIndexes()
        let amounts = ["27.27", "9.99", "0", "-5", "100", "12345678901234567890", "12345678901234567891", "2.5"]
            .compactMap { Decimal(string: $0) }
        var all = amounts.enumerated().map { number, amount in
            Price(id: number, amount: amount, grade: [.high, .low, .medium][number % 3])
        }
        try await prices.store(all.map { ($0.key, $0) })
        let byAmount = SortDescriptor(\Price.amount, order: .reverse)
        let byGrade = SortDescriptor(\Price.grade)
        let windows = [
            (byAmount, LiveQuery(Query<Price>(sortedBy: byAmount), in: prices, limit: 3)),
            (byGrade, LiveQuery(Query<Price>(sortedBy: byGrade), in: prices, limit: 3)),
        ]
        var limit = 3
        func check(_ place: String) async throws {
            for (descriptor, window) in windows {
                let expected = all.sorted(using: descriptor).prefix(limit).map(\.id)
                #expect(
                    try await eventually { window.items.map(\.id) == expected }, "\(place): \(window.items.map(\.id))")
            }
        }
        for (_, window) in windows { try await window.itemsHaveLoaded() }
        try await check("loaded")
        all[3].amount = 1_000
        all[3].grade = .low
        try await prices.store(all[3], forKey: all[3].key)
        try await check("changed")
        limit = 6
        for (_, window) in windows { try await window.loadMore(3) }
        try await check("more")
        let new = Price(id: 20, amount: Decimal(string: "12345678901234567890.5") ?? 0, grade: .medium)
        all.append(new)
        try await prices.store(new, forKey: new.key)
        try await check("inserted")
        try await prices.removeObject(forKey: all[6].key)
        all.remove(at: 6)
        try await check("removed")
    }
}
