import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// Windows that are sorted by several properties. The oracle is an array.
@MainActor
@Suite(.serialized, .unhurriedReads) struct LiveOrderTests {
    private let folder = TemporaryFolder()

    private struct Visit: Codable, Sendable, Equatable, Queryable {
        var id: Int
        var room: Int
        var guest: String

        static let indexes = [Index("room", \Visit.room).then("guest", \Visit.guest)]

        var key: CacheKey { CacheKey("\(id)") }
    }

    private static func visits(_ count: Int) -> [Visit] {
        (0..<count).map { Visit(id: $0, room: $0 * 7 % 3, guest: "guest \($0 * 31 % 211)") }
    }

    private static func query(_ isDescending: (Bool, Bool)) -> Query<Visit> {
        Query(
            sortedBy: SortDescriptor(\.room, order: isDescending.0 ? .reverse : .forward),
            SortDescriptor(\.guest, order: isDescending.1 ? .reverse : .forward))
    }

    /// - Parameter visits: Visits in insertion order.
    private static func sorted(_ visits: [Visit], _ isDescending: (Bool, Bool)) -> [Visit] {
        visits.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            if one.room != other.room { return (one.room < other.room) != isDescending.0 }
            if one.guest != other.guest { return (one.guest < other.guest) != isDescending.1 }
            return left.offset < right.offset
        }.map(\.element)
    }

    private func engine(isInMemory: Bool) throws -> CountingItems {
        CountingItems(
            of: isInMemory
                ? MemoryStorageEngine()
                : try SQLiteStorageEngine(openingFile: folder.file("visits"), durability: .relaxed))
    }

    @Test(arguments: [false, true], [400, 2_000])
    func `Opening a window and showing more reads what is shown`(isInMemory: Bool, count: Int) async throws {
        let engine = try engine(isInMemory: isInMemory)
        let storage = ObjectStorage<Visit>(storage: engine)
        let visits = Self.visits(count)
        try await storage.store(visits.map { ($0.key, $0) })
        try await storage.createIndexes()
        for isDescending in [(false, false), (false, true), (true, false), (true, true)] {
            let expected = Self.sorted(visits, isDescending)
            _ = engine.take()
            let window = LiveQuery(Self.query(isDescending), in: storage, limit: 20)
            try await window.itemsHaveLoaded()
            #expect(window.items == Array(expected.prefix(20)))
            // The window has as many rows again in reserve.
            var most = 2 * 20 + 60
            #expect(engine.take() <= most, "opening \(isDescending)")
            for shown in stride(from: 40, through: 200, by: 20) {
                try await window.loadMore(20)
                #expect(window.items == Array(expected.prefix(shown)))
                most = shown + 20 + 60
                #expect(engine.take() <= most, "showing \(shown) \(isDescending)")
            }
        }
    }

    @Test(arguments: [false, true]) func `A window follows random changes`(isInMemory: Bool) async throws {
        print("windows by several properties: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let storage = ObjectStorage<Visit>(storage: try engine(isInMemory: isInMemory))
        var visits = Self.visits(300)
        try await storage.store(visits.map { ($0.key, $0) })
        try await storage.createIndexes()
        let isDescending = (Bool.random(using: &random), Bool.random(using: &random))
        let window = LiveQuery(Self.query(isDescending), in: storage, limit: 30)
        try await window.itemsHaveLoaded()
        for round in 0..<TestSizes.windowChanges {
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let number = Int.random(in: visits.indices, using: &random)
                visits[number].room = .random(in: 0..<3, using: &random)
                visits[number].guest = "guest \(Int.random(in: 0..<50, using: &random))"
            }
            let removed = visits.remove(at: .random(in: visits.indices, using: &random))
            try await storage.store(visits.map { ($0.key, $0) })
            try await storage.removeObject(forKey: removed.key)
            if round % 5 == 4 { try await window.loadMore(.random(in: 1...30, using: &random)) }
            let expected = Array(Self.sorted(visits, isDescending).prefix(window.limit))
            try await waitUntil("the window follows round \(round)") { window.items == expected }
        }
    }
}
