import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// An errand with everything that a window can be about.
struct Errand: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var title = ""
    var rank: Int?
    var isDone = false

    static let indexes = [Index("rank", \Errand.rank), Index("isDone", \Errand.isDone), Index("title", \Errand.title)]

    var key: CacheKey { CacheKey("task-\(id)") }
}

extension ObjectStorage<Errand> {
    func store(_ tasks: [Errand]) async throws {
        try await store(tasks.map { ($0.key, $0) })
    }
}

/// The kinds of engines of a window.
enum WindowEngine: String, CaseIterable {
    case memory, sqlite, indexedSQLite, encrypted, cached, readInKeyOrder

    func storage(in folder: TemporaryFolder) async throws -> ObjectStorage<Errand> {
        switch self {
        case .memory: return ObjectStorage(storage: MemoryStorageEngine())
        case .sqlite:
            // A coder of its own hides the JSON, and so the indexes.
            return ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory), coder: PlainCoder())
        case .indexedSQLite:
            let storage = ObjectStorage<Errand>(storage: try SQLiteStorageEngine(opening: folder.directory))
            try await storage.createIndexes()
            return storage
        case .encrypted:
            return ObjectStorage(
                storage: MemoryStorageEngine().encrypted(with: EncryptionKeyset(), collection: "tasks"))
        case .cached: return ObjectStorage(storage: try SQLiteStorageEngine(opening: folder.directory).cached())
        case .readInKeyOrder: return ObjectStorage(storage: MemoryStorageEngine().mirrored(to: MemoryStorageEngine()))
        }
    }
}

private struct PlainCoder: ObjectCoder {
    func encode<Object: Encodable>(_ object: Object) throws -> Data { try JSONEncoder().encode(object) }

    func decode<Object: Decodable>(_ type: Object.Type, from data: Data) throws -> Object {
        try JSONDecoder().decode(type, from: data)
    }
}

@MainActor
@Suite("Live windows")
struct LiveQueryTests {
    private let folder = TemporaryFolder()
    private static let open = Query<Errand>(where: #Predicate { !$0.isDone }, sortedBy: SortDescriptor(\.rank))

    @Test("A window shows the first matches, and each change at its place", arguments: WindowEngine.allCases)
    func patches(_ engine: WindowEngine) async throws {
        let tasks = try await engine.storage(in: folder)
        try await tasks.store((0..<10).map { Errand(id: $0, rank: 10 * $0, isDone: $0 % 2 == 0) })
        let window = LiveQuery(Self.open, in: tasks, limit: 3)
        try await window.itemsHaveLoaded()
        #expect(window.items.map(\.id) == [1, 3, 5])
        #expect(window.hasMore)

        try await tasks.store([Errand(id: 20, rank: 35)])
        #expect(try await eventually { window.items.map(\.id) == [1, 3, 20] })
        try await tasks.store([Errand(id: 1, rank: 95)])
        #expect(try await eventually { window.items.map(\.id) == [3, 20, 5] })
        try await tasks.removeObject(forKeys: [Errand(id: 3).key, Errand(id: 5).key])
        #expect(try await eventually { window.items.map(\.id) == [20, 7, 9] })
        try await tasks.removeAllObjects()
        #expect(try await eventually { window.items.isEmpty && !window.hasMore })
    }

    @Test("The window follows its items and events through random changes", arguments: WindowEngine.allCases)
    func random(_ engine: WindowEngine) async throws {
        let seed = Seed.current
        var generator = SeededGenerator(seed: seed)
        let tasks = try await engine.storage(in: folder)
        func randomTask() -> Errand {
            Errand(
                id: .random(in: 0..<40, using: &generator),
                title: ["a", "b", "é", "e\u{301}"].randomElement(using: &generator)!,
                rank: [nil, 1, 2, 3].randomElement(using: &generator)!, isDone: .random(using: &generator))
        }
        try await tasks.store((0..<20).map { _ in randomTask() })
        let queries = [
            Self.open, Query(sortedBy: SortDescriptor(\.rank, order: .reverse)), Query(),
            Query(
                where: #Predicate { $0.title == "é" }, sortedBy: SortDescriptor(\.title),
                SortDescriptor(\.rank, order: .reverse)),
        ]
        let windows = queries.map { LiveQuery($0, in: tasks, limit: .random(in: 0...8, using: &generator)) }
        for window in windows { try await window.itemsHaveLoaded() }
        let replays = windows.map { Replay($0) }
        for round in 0..<TestSizes.windowChanges {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: try await tasks.removeObject(forKeys: (0..<5).map { _ in randomTask().key })
            case 1 where round % 7 == 0: try await tasks.removeAllObjects()
            case 2: try await windows.randomElement(using: &generator)?.loadMore(2)
            case 3:
                // Leaves and enters again in one batch.
                let task = randomTask()
                try await tasks.storage.apply([
                    .remove(key: task.key), .write(key: task.key, data: try tasks.coder.encode(task)),
                ])
            default: try await tasks.store((0..<Int.random(in: 1...6, using: &generator)).map { _ in randomTask() })
            }
            for (query, window) in zip(queries, windows) {
                let limit = window.limit
                let expected = try await tasks.fetch(query, limit: limit + 1).objects
                try #require(
                    try await eventually {
                        window.items == Array(expected.prefix(limit)) && window.hasMore == (expected.count > limit)
                    }, "seed \(seed), round \(round): \(window.items) instead of \(expected)")
            }
        }
        for (window, replay) in zip(windows, replays) {
            #expect(try await eventually { replay.items == window.items }, "seed \(seed)")
        }
    }

    @Test("A change between the first page and the subscription is shown")
    func changeWhileOpening() async throws {
        let engine = PausingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1)])
        engine.afterScan.plan { try await tasks.store([Errand(id: 2)]) }
        let window = LiveQuery(Query<Errand>(), in: tasks, limit: 10)
        try await window.itemsHaveLoaded()
        #expect(try await eventually { window.items.map(\.id) == [1, 2] })
    }

    @Test("A limit of 0 and a filter that matches nothing are ordinary", arguments: WindowEngine.allCases)
    func nothing(_ engine: WindowEngine) async throws {
        let tasks = try await engine.storage(in: folder)
        try await tasks.store([Errand(id: 1, rank: 1)])
        let (none, noMatch) = (
            LiveQuery(Self.open, in: tasks, limit: 0),
            LiveQuery(Query<Errand>(where: #Predicate { $0.rank == 7 }), in: tasks)
        )
        try await none.itemsHaveLoaded()
        try await noMatch.itemsHaveLoaded()
        #expect(none.items.isEmpty && none.hasMore && none.state.isLoaded)
        #expect(noMatch.items.isEmpty && !noMatch.hasMore && noMatch.state.isLoaded)
        try await tasks.store([Errand(id: 2, rank: 7)])
        #expect(try await eventually { noMatch.items.map(\.id) == [2] })
        #expect(none.items.isEmpty)
        try await none.loadMore(1)
        #expect(none.items.count == 1)
    }

    @Test("Ties at the edge of a window stay in insertion order")
    func ties() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store((0..<10).map { Errand(id: $0, rank: 1) })
        for order in [SortOrder.forward, .reverse] {
            let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank, order: order)), in: tasks, limit: 4)
            try await window.itemsHaveLoaded()
            #expect(window.items.map(\.id) == [0, 1, 2, 3])
            try await window.loadMore(3)
            #expect(window.items.map(\.id) == [0, 1, 2, 3, 4, 5, 6])
        }
    }

    @Test("A removal at the edge reads at most once")
    func refill() async throws {
        let engine = CountingScans(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store((0..<100).map { Errand(id: $0) })
        let window = LiveQuery(Query<Errand>(where: #Predicate { $0.id < 60 }), in: tasks, limit: 20)
        try await window.itemsHaveLoaded()
        #expect(engine.scans.withLock { $0 } == 1)
        // The reserve is as large as the window.
        try await tasks.removeObject(forKeys: (0..<15).map { Errand(id: $0).key })
        #expect(try await eventually { window.items.first?.id == 15 })
        #expect(window.items.count == 20)
        #expect(engine.scans.withLock { $0 } == 1)
        try await tasks.removeObject(forKeys: (15..<58).map { Errand(id: $0).key })
        #expect(try await eventually { window.items.map(\.id) == [58, 59] })
        #expect(engine.scans.withLock { $0 } == 2)
        #expect(!window.hasMore)
    }

    @Test("A change by another engine on the file is shown")
    func otherEngine() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        let window = LiveQuery(Self.open, in: tasks, limit: 3)
        try await window.itemsHaveLoaded()
        let other = ObjectStorage<Errand>(storage: try SQLiteStorageEngine(opening: folder.directory))
        try await other.store([Errand(id: 1, rank: 1)])
        #expect(try await eventually { window.items.map(\.id) == [1] })
    }

    @Test("An engine that goes away leaves the items, and one that comes back is read again")
    func failures() async throws {
        let engine = FailingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        engine.isFailing.withLock { $0 = true }
        let window = LiveQuery(Query<Errand>(), in: tasks)
        await #expect(throws: StorageError.self) { try await window.itemsHaveLoaded() }
        #expect(window.state.error != nil)
        engine.isFailing.withLock { $0 = false }
        try await window.itemsHaveLoaded()
        #expect(window.state.isLoaded)
        try await tasks.store([Errand(id: 1)])
        #expect(try await eventually { window.items.count == 1 })
        engine.isFailing.withLock { $0 = true }
        try await tasks.store([Errand(id: 2)])
        await #expect(throws: StorageError.self) { try await window.reload() }
        #expect(window.items.map(\.id) == [1])
        #expect(window.state.error != nil)
        engine.isFailing.withLock { $0 = false }
        #expect(try await eventually { window.items.map(\.id) == [1, 2] })
        #expect(window.state.isLoaded)
    }

    @Test("Events begin with the loaded items, not with an empty window")
    func firstEvent() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store([Errand(id: 1), Errand(id: 2)])
        let window = LiveQuery(Query<Errand>(), in: tasks, limit: 1)
        var events = window.events.makeAsyncIterator()
        guard case .loaded(let items)? = await events.next() else {
            Issue.record("The first event is no snapshot.")
            return
        }
        #expect(items.map(\.id) == [1])
        #expect(window.limit == 1)
        try await window.loadMore()
        #expect(window.limit == 2)
    }

    @Test("Records that can't be decoded are reported, and others are shown")
    func undecodable() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store([Errand(id: 1, rank: 1)])
        try await tasks.storage.write(Data("no JSON".utf8), key: CacheKey("bad"))
        let window = LiveQuery(Self.open, in: tasks, limit: 3)
        try await window.itemsHaveLoaded()
        #expect(window.items.map(\.id) == [1])
        #expect(window.undecodable.map(\.key) == [CacheKey("bad")])
        try await tasks.storage.write(Data(#"{"id":2,"title":"","rank":2,"isDone":false}"#.utf8), key: CacheKey("bad"))
        #expect(try await eventually { window.items.map(\.id) == [1, 2] })
        #expect(window.undecodable.isEmpty)
    }
}

/// The items that the events of a window give.
@MainActor
private final class Replay {
    private(set) var items: [Errand] = []

    init(_ window: LiveQuery<Errand>) {
        let events = window.events
        Task { [weak self] in
            for await event in events {
                guard let self else { return }
                items.apply(event)
            }
        }
    }
}
