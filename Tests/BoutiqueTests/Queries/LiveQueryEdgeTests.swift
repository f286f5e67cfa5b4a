import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@MainActor
@Suite("Edges of live windows")
struct LiveQueryEdgeTests {
    private let folder = TemporaryFolder()

    @Test("The largest limit shows everything", arguments: WindowEngine.allCases)
    func largestLimit(_ engine: WindowEngine) async throws {
        let tasks = try await engine.storage(in: folder)
        try await tasks.store((0..<3).map { Errand(id: $0, rank: -$0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: tasks, limit: .max)
        try await window.loadMore(.max)
        #expect(window.items.map(\.id) == [2, 1, 0])
        #expect(!window.hasMore)
        try await window.loadMore(.max)
        try await tasks.store([Errand(id: 3, rank: 1)])
        #expect(try await eventually { window.items.map(\.id) == [2, 1, 0, 3] })
    }

    @Test("After removals that leave exactly as many as the limit, there are no more", arguments: [0, 1, 5])
    func exactlyTheLimit(_ limit: Int) async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store((0..<100).map { Errand(id: $0) })
        let window = LiveQuery(Query<Errand>(), in: tasks, limit: limit)
        try await window.itemsHaveLoaded()
        #expect(window.hasMore)
        try await tasks.removeObject(forKeys: (limit..<100).map { Errand(id: $0).key })
        #expect(try await eventually { !window.hasMore })
        #expect(window.items.map(\.id) == Array(0..<limit))
    }

    @Test("A window shows expired items until it is loaded again or they are removed", arguments: [false, true])
    func expiredItems(removes: Bool) async throws {
        let time = Locked(Date(timeIntervalSince1970: 0))
        let engine = MemoryStorageEngine().expiring(after: .seconds(10)) { time.withLock { $0 } }
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1)])
        let window = LiveQuery(Query<Errand>(), in: tasks)
        try await window.itemsHaveLoaded()
        time.withLock { $0 += 11 }
        try await tasks.store([Errand(id: 2)])
        #expect(try await eventually { window.items.map(\.id) == [1, 2] })
        if removes { try await engine.removeExpired() } else { try await window.reload() }
        #expect(try await eventually { window.items.map(\.id) == [2] })
    }

    @Test("A stream of events that a subscriber of the items creates has no change twice")
    func streamOfSubscriber() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        let window = LiveQuery(Query<Errand>(), in: tasks)
        try await window.itemsHaveLoaded()
        var streams: [AsyncStream<LiveQueryEvent<Errand>>] = []
        let subscription = window.$items.dropFirst().sink { _ in
            MainActor.assumeIsolated { streams.append(window.events) }
        }
        try await tasks.store([Errand(id: 1)])
        #expect(try await eventually { streams.count == 1 })
        subscription.cancel()
        try await tasks.store([Errand(id: 2)])
        #expect(try await eventually { window.items.count == 2 })
        var items: [Errand] = []
        for await event in try #require(streams.first).prefix(2) { items.apply(event) }
        #expect(items.map(\.id) == [1, 2])
    }

    @Test("A window that is released while it loads stops reading")
    func releasedWhileLoading() async throws {
        let engine = PausingEngine(base: MemoryStorageEngine())
        let (began, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Bool>.makeStream())
        engine.afterScan.plan {
            began.continuation.yield()
            // Until the task is cancelled.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            ended.continuation.yield(Task.isCancelled)
            try Task.checkCancellation()
        }
        var window: LiveQuery<Errand>? = LiveQuery(Query<Errand>(), in: ObjectStorage(storage: engine))
        for await _ in began.stream.prefix(1) {}
        weak let released = window
        window = nil
        #expect(released == nil)
        for await isCancelled in ended.stream.prefix(1) { #expect(isCancelled) }
    }

    @Test("A window whose file was replaced keeps its items, and its state has the error that a reload throws")
    func replacedFile() async throws {
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1), Errand(id: 2)])
        let window = LiveQuery(Query<Errand>(), in: tasks)
        try await window.itemsHaveLoaded()
        let states = Locked(0)
        withObservationTracking {
            _ = window.state
        } onChange: {
            states.withLock { $0 += 1 }
        }
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: folder.path) {
            try files.removeItem(atPath: folder.path + "/" + name)
        }
        let other = ObjectStorage<Errand>(storage: try SQLiteStorageEngine(opening: folder.directory))
        try await other.store([Errand(id: 3)])
        let error = await #expect(throws: StorageError.self) { try await window.reload() }
        #expect((window.state.error as? StorageError)?.code == error?.code && error != nil)
        #expect(!window.state.isLoaded)
        #expect(states.withLock { $0 } == 1)
        #expect(window.items.map(\.id) == [1, 2])
        await #expect(throws: StorageError.self) { try await window.itemsHaveLoaded() }
    }

    @Test("A window that could not be read again is loaded as soon as it can be, also if nothing has changed")
    func recovery() async throws {
        let engine = FailingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1)])
        let window = LiveQuery(Query<Errand>(), in: tasks)
        try await window.itemsHaveLoaded()
        var events = window.events.makeAsyncIterator()
        #expect(await events.next()?.items?.map(\.id) == [1])
        var announcements = 0
        let subscription = window.objectWillChange.sink { MainActor.assumeIsolated { announcements += 1 } }
        for isChanged in [false, true] {
            announcements = 0
            engine.isFailing.withLock { $0 = true }
            if isChanged { try await ObjectStorage<Errand>(storage: engine.base).store([Errand(id: 2)]) }
            await #expect(throws: StorageError.self) { try await window.reload() }
            await #expect(throws: StorageError.self) { try await window.reload() }
            #expect(window.state.error != nil && window.items.map(\.id) == [1])
            // Not once for each failure.
            #expect(announcements == 1)
            var late = window.events.makeAsyncIterator()
            #expect(await late.next()?.items?.map(\.id) == [1])
            engine.isFailing.withLock { $0 = false }
            #expect(try await eventually { window.state.isLoaded })
        }
        #expect(window.items.map(\.id) == [1, 2])
        if case .inserted(let item, at: 1) = await events.next() { #expect(item.id == 2) } else { Issue.record() }
        subscription.cancel()
    }

    @Test("All observers see the reversal of a large window as one change", arguments: [false, true])
    func largeReversal(_ isIndexed: Bool) async throws {
        let tasks = try await (isIndexed ? WindowEngine.indexedSQLite : .memory).storage(in: folder)
        let count = 4_000
        try await tasks.store((0..<count).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: tasks, limit: count)
        try await window.itemsHaveLoaded()
        let before = window.items
        var events = window.events.makeAsyncIterator()
        var replayed = try #require(await events.next()?.items)
        var published: [[Int]] = []
        var announced: [[Int]] = []
        let subscriptions = [
            window.$items.sink { items in published.append(items.map(\.id)) },
            window.objectWillChange.sink { MainActor.assumeIsolated { announced.append(window.items.map(\.id)) } },
        ]
        let tracked = Locked(0)
        withObservationTracking {
            _ = window.items
        } onChange: {
            tracked.withLock { $0 += 1 }
        }
        let changed = before.map { Errand(id: $0.id, title: "new", rank: -($0.rank ?? 0)) }
        try await tasks.store(changed)
        let expected = changed.sorted { ($0.rank ?? 0) < ($1.rank ?? 0) }
        #expect(try await eventually { window.items == expected })
        #expect(published == [before.map(\.id), expected.map(\.id)])
        #expect(announced == [before.map(\.id)])
        #expect(tracked.withLock { $0 } == 1)
        var steps = 0
        while replayed != expected, let event = await events.next() {
            replayed.apply(event)
            steps += 1
        }
        // Each item but one is moved, and that one is updated.
        #expect(steps == count)
        subscriptions.forEach { $0.cancel() }
    }

    @Test("A caller that stops waiting does not make the window fail")
    func cancelledWait() async throws {
        let engine = PausingEngine(base: MemoryStorageEngine())
        let (began, goOn) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        engine.afterScan.plan {
            began.continuation.yield()
            for await _ in goOn.stream.prefix(1) {}
        }
        let window = LiveQuery(Query<Errand>(), in: ObjectStorage(storage: engine))
        for await _ in began.stream.prefix(1) {}
        let waiting = Task { try await window.itemsHaveLoaded() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(window.state.error == nil)
        goOn.continuation.yield()
        try await window.itemsHaveLoaded()
        #expect(window.state.isLoaded)
    }

    @Test("The events of a batch that reverses a window lead to the new order")
    func reversal() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store((0..<1_000).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: tasks, limit: 1_000)
        try await window.itemsHaveLoaded()
        var items = window.items
        var events = window.events.makeAsyncIterator()
        _ = await events.next()
        try await tasks.store((0..<1_000).map { Errand(id: $0, rank: -$0) })
        #expect(try await eventually { window.items.first?.id == 999 })
        while items != window.items, let event = await events.next() { items.apply(event) }
        #expect(items.map(\.id) == Array((0..<1_000).reversed()))
    }

    @Test("Indexes that are removed and created while a window is open change nothing")
    func changingIndexes() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        let engine = try #require(tasks.storage as? SQLiteStorageEngine)
        try await tasks.store((0..<60).map { Errand(id: $0, rank: $0) })
        let query = Query<Errand>(sortedBy: SortDescriptor(\.rank, order: .reverse))
        let window = LiveQuery(query, in: tasks, limit: 4)
        try await window.itemsHaveLoaded()
        var next = 60
        for isRemoving in [true, false, true] {
            for index in Errand.storageIndexes {
                if isRemoving { try await engine.removeIndex(index) } else { try await engine.createIndex(index) }
            }
            try await tasks.store([Errand(id: next, rank: next)])
            next += 1
            try await tasks.removeObject(forKeys: (0..<18).map { Errand(id: next - 3 - $0).key })
            next += 1
            try await tasks.store([Errand(id: next, rank: 30)])
            next += 1
            let expected = try await tasks.fetch(query, limit: window.limit).objects
            let isShown = try await eventually { window.items == expected }
            try #require(isShown, "\(isRemoving): \(window.items.map(\.id)) instead of \(expected.map(\.id))")
            try await window.loadMore(15)
            let more = try await tasks.fetch(query, limit: window.limit).objects
            // The last change may have been outside the smaller window, and be shown only now.
            try #require(try await eventually { window.items == more }, "\(isRemoving), after loading more")
            try await window.reload()
            #expect(window.items == more)
        }
    }

    @Test("An unreadable record in the window is reported, and shown again when it can be read")
    func undecodableInWindow() async throws {
        let tasks = try await WindowEngine.indexedSQLite.storage(in: folder)
        try await tasks.store((0..<3).map { Errand(id: $0, rank: $0) })
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: tasks, limit: 2)
        try await window.itemsHaveLoaded()
        for id in 0..<3 { try await tasks.storage.write(Data("{".utf8), key: Errand(id: id).key) }
        #expect(try await eventually { window.undecodable.count == 3 })
        #expect(window.items.isEmpty)
        try await tasks.store([Errand(id: 1, rank: 1)])
        #expect(try await eventually { window.items.map(\.id) == [1] })
        #expect(Set(window.undecodable.map(\.key)) == [Errand(id: 0).key, Errand(id: 2).key])
    }

    @Test("A property with a query follows it, and announces changes of its object")
    func property() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        let controller = Controller(tasks)
        try await controller.$first.itemsHaveLoaded()
        #expect(controller.first.isEmpty)
        var announcements = 0
        let subscription = controller.objectWillChange.sink { announcements += 1 }
        try await tasks.store([Errand(id: 2), Errand(id: 1)])
        #expect(try await eventually { controller.first.map(\.id) == [1] })
        #expect(announcements == 1)
        try await controller.$first.loadMore(1)
        #expect(controller.first.map(\.id) == [1, 2])
        #expect(announcements == 2)
        subscription.cancel()
    }
}

extension LiveQueryEvent {
    /// The items of a snapshot.
    fileprivate var items: [Item]? {
        if case .loaded(let items) = self { items } else { nil }
    }
}

@MainActor
private final class Controller: ObservableObject {
    #if !canImport(Combine)
    // OpenCombine provides no publisher for a class without @Published properties.
    let objectWillChange = ObservableObjectPublisher()
    #endif
    @Queried<Errand> var first: [Errand]

    init(_ tasks: ObjectStorage<Errand>) {
        _first = Queried(Query(sortedBy: SortDescriptor(\.id)), in: tasks, limit: 1)
    }
}
