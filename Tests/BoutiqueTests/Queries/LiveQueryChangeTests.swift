import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Windows whose query changes, as with a search field.
@MainActor
@Suite
struct LiveQueryChangeTests {
    private let folder = TemporaryFolder()

    private static func query(from least: Int, isDescending: Bool) -> Query<Errand> {
        Query(
            where: #Predicate { ($0.rank ?? -1) >= least },
            sortedBy: SortDescriptor(\.rank, order: isDescending ? .reverse : .forward), SortDescriptor(\.id))
    }

    @Test(
        "A window shows the items of each new query, and follows the changes of that", arguments: WindowEngine.allCases)
    func random(_ engine: WindowEngine) async throws {
        print("changed windows: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let tasks = try await engine.storage(in: folder)
        var stored: [Int: Errand] = [:]
        for id in 0..<60 { stored[id] = Errand(id: id, rank: Int.random(in: 0..<50, using: &random)) }
        try await tasks.store(stored.keys.sorted().map { stored[$0]! })
        let window = LiveQuery(Self.query(from: 0, isDescending: false), in: tasks, limit: 20)
        try await window.itemsHaveLoaded()
        for _ in 0..<30 {
            let (least, isDescending) = (Int.random(in: 0..<50, using: &random), Bool.random(using: &random))
            let limit = Bool.random(using: &random) ? Int.random(in: 1..<40, using: &random) : nil
            let expectedLimit = limit ?? window.limit
            try await window.change(to: Self.query(from: least, isDescending: isDescending), limit: limit)
            func expected() -> [Errand] {
                let matches = stored.values.filter { ($0.rank ?? -1) >= least }
                    .sorted {
                        ($0.rank! * (isDescending ? -1 : 1), $0.id) < ($1.rank! * (isDescending ? -1 : 1), $1.id)
                    }
                return Array(matches.prefix(expectedLimit))
            }
            #expect(window.items == expected())
            #expect(window.limit == expectedLimit)
            let changed = Errand(
                id: Int.random(in: 0..<60, using: &random), rank: Int.random(in: 0..<50, using: &random))
            stored[changed.id] = changed
            try await tasks.store([changed])
            let now = expected()
            try await waitUntil("the window follows the new query") { window.items == now }
        }
    }

    @Test("The events of a change lead to the new items, and spare those that are in both results")
    func events() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store((0..<30).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Self.query(from: 10, isDescending: false), in: tasks, limit: 100)
        try await window.itemsHaveLoaded()
        var events = window.events.makeAsyncIterator()
        _ = await events.next()
        try await window.change(to: Self.query(from: 12, isDescending: false))
        for _ in 0..<2 {
            guard case .removed(let item, at: _)? = await events.next() else {
                Issue.record("An item was not removed.")
                return
            }
            #expect(item.id == 10 || item.id == 11)
        }
        try await window.change(to: Self.query(from: 11, isDescending: false))
        guard case .inserted(let item, at: 0)? = await events.next() else {
            Issue.record("The item was not inserted.")
            return
        }
        #expect(item.id == 11)
        #expect(window.items.map(\.id) == Array(11..<30))
    }

    @Test("Of several concurrent changes, the last one counts")
    func last() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store((0..<30).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Self.query(from: 0, isDescending: false), in: tasks)
        let changes = (1...10).map { least in
            Task { try await window.change(to: Self.query(from: least, isDescending: false)) }
        }
        for change in changes { try await change.value }
        #expect(window.items.map(\.id) == Array(10..<30))
    }

    @Test("A change that fails, or is cancelled, leaves the window with its query")
    func failure() async throws {
        let engine = FailingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store((0..<10).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Self.query(from: 5, isDescending: false), in: tasks)
        try await window.itemsHaveLoaded()
        engine.isFailing.withLock { $0 = true }
        await #expect(throws: StorageError.self) {
            try await window.change(to: Self.query(from: 0, isDescending: false))
        }
        engine.isFailing.withLock { $0 = false }
        #expect(window.items.map(\.id) == Array(5..<10))
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await window.change(to: Self.query(from: 0, isDescending: false))
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await tasks.store([Errand(id: 20, rank: 20), Errand(id: 21, rank: 0)])
        try await waitUntil("the window follows its query") { window.items.map(\.id) == Array(5..<10) + [20] }
    }
}
