import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

@MainActor
@Suite struct LiveValuesTests {
    private let folder = TemporaryFolder()

    /// The oracle is `Dictionary(grouping:)`.
    @Test(arguments: WindowEngine.allCases)
    func `Values follow random changes`(_ engine: WindowEngine) async throws {
        let seed = Seed.current
        print("live values: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let tasks = try await engine.storage(in: folder)
        var all: [Int: Errand] = [:]
        let ranks = LiveValues(of: \.rank, in: tasks)
        let openTitles = LiveValues(of: \.title, matching: Query(where: #Predicate { !$0.isDone }), in: tasks)
        for round in 0..<TestSizes.windowChanges {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let ids = Set((0..<5).map { _ in Int.random(in: 0..<30, using: &random) })
                for id in ids { all[id] = nil }
                try await tasks.removeObject(forKeys: ids.map { Errand(id: $0).key })
            } else {
                let id = Int.random(in: 0..<30, using: &random)
                all[id] = Errand(
                    id: id, title: ["a", "b", "é", "e\u{301}"].randomElement(using: &random)!,
                    rank: [nil, 1, 2].randomElement(using: &random)!, isDone: .random(using: &random))
                try await tasks.store([all[id]!])
            }
            let byRank = Dictionary(grouping: all.values, by: \.rank).mapValues(\.count)
            let byTitle = Dictionary(grouping: all.values.filter { !$0.isDone }, by: \.title).mapValues(\.count)
            try #require(
                try await eventually {
                    Dictionary(uniqueKeysWithValues: ranks.values.map { ($0.value, $0.count) }) == byRank
                        && Dictionary(uniqueKeysWithValues: openTitles.values.map { ($0.value, $0.count) }) == byTitle
                }, "seed \(seed), round \(round): \(ranks.values), \(openTitles.values)")
            #expect(openTitles.values.map(\.value) == byTitle.keys.sorted())
        }
    }

    @Test func `Changes of another collection are not a reason to read`() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let engine = CountingScans(base: file)
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1, title: "a")])
        let titles = LiveValues(of: \.title, in: tasks)
        try await titles.valuesHaveLoaded()
        let scans = engine.scans.withLock { $0 }
        let others = ObjectStorage<Errand>(storage: try file.collection(named: "others"))
        for id in 0..<20 { try await others.store([Errand(id: id)]) }
        // The log of the collection is read up to here.
        try await titles.loader.catchUp()
        #expect(engine.scans.withLock { $0 } == scans)
        try await tasks.store([Errand(id: 2, title: "a")])
        #expect(try await eventually { titles.values == [ValueCount("a", count: 2)] })
        #expect(engine.scans.withLock { $0 } > scans)
    }

    @Test func `Changes during a read are read once`() async throws {
        let counting = CountingScans(base: MemoryStorageEngine())
        let engine = PausingEngine(base: counting)
        let tasks = ObjectStorage<Errand>(storage: engine)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let isReading = Locked(false)
        engine.afterScan.plan {
            isReading.withLock { $0 = true }
            for await _ in gate {}
        }
        let titles = LiveValues(of: \.title, in: tasks)
        #expect(try await eventually { isReading.withLock { $0 } })
        for id in 0..<50 { try await tasks.store([Errand(id: id, title: "a")]) }
        let scans = counting.scans.withLock { $0 }
        opening.finish()
        #expect(try await eventually { titles.values == [ValueCount("a", count: 50)] })
        try await titles.loader.catchUp()
        let read = counting.scans.withLock { $0 } - scans
        // With an index, one read scans several times.
        try await titles.reload()
        #expect(read <= 2 * (counting.scans.withLock { $0 } - scans - read))
    }

    @Test func `Observers hear of other values, and not of changes that leave them the same`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store([Errand(id: 1, title: "a", rank: 1)])
        let titles = LiveValues(of: \.title, in: tasks)
        try await titles.valuesHaveLoaded()
        #expect(titles.values == [ValueCount("a", count: 1)])
        var announcements = 0
        let subscription = titles.objectWillChange.sink { announcements += 1 }
        defer { subscription.cancel() }
        let observed = Locked(false)
        withObservationTracking {
            _ = titles.values
        } onChange: {
            observed.withLock { $0 = true }
        }
        try await tasks.store([Errand(id: 1, title: "a", rank: 2)])
        try await titles.loader.catchUp()
        #expect(announcements == 0 && !observed.withLock { $0 })
        try await tasks.store([Errand(id: 2, title: "b")])
        #expect(try await eventually { titles.values == [ValueCount("a", count: 1), ValueCount("b", count: 1)] })
        #expect(announcements == 1 && observed.withLock { $0 })
    }

    @Test func `Subscribers receive the values, then each other ones, and the end`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store([Errand(id: 1, title: "a")])
        var titles: LiveValues<String, Errand>? = LiveValues(of: \.title, in: tasks)
        try await titles?.valuesHaveLoaded()
        let (published, hasEnded) = (Locked<[[ValueCount<String>]]>([]), Locked(false))
        let subscription = titles?.$values.sink { _ in
            hasEnded.withLock { $0 = true }
        } receiveValue: { values in
            MainActor.assertIsolated()
            published.withLock { $0.append(values) }
        }
        let (one, two) = ([ValueCount("a", count: 1)], [ValueCount("a", count: 1), ValueCount("b", count: 1)])
        #expect(published.withLock { $0 } == [one])
        try await tasks.store([Errand(id: 1, title: "a", rank: 2)])
        try await titles?.loader.catchUp()
        try await tasks.store([Errand(id: 2, title: "b")])
        #expect(try await eventually { titles?.values == two })
        #expect(published.withLock { $0 } == [one, two])
        titles = nil
        #expect(try await eventually { hasEnded.withLock { $0 } })
        subscription?.cancel()
    }

    @Test func `An engine that goes away leaves the values, and one that comes back is read again`() async throws {
        let engine = FailingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        try await tasks.store([Errand(id: 1, title: "a")])
        let titles = LiveValues(of: \.title, in: tasks)
        try await titles.valuesHaveLoaded()
        engine.isFailing.withLock { $0 = true }
        try await tasks.store([Errand(id: 2, title: "a")])
        await #expect(throws: StorageError.self) { try await titles.reload() }
        #expect(titles.values == [ValueCount("a", count: 1)] && titles.state.error != nil)
        engine.isFailing.withLock { $0 = false }
        #expect(try await eventually { titles.values == [ValueCount("a", count: 2)] && titles.state.isLoaded })
    }

    @Test func `Records that can't be decoded are reported, and others are counted`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store([Errand(id: 1, title: "a")])
        try await tasks.storage.write(Data("no JSON".utf8), key: CacheKey("bad"))
        let titles = LiveValues(of: \.title, in: tasks)
        try await titles.valuesHaveLoaded()
        #expect(titles.values == [ValueCount("a", count: 1)])
        #expect(titles.undecodable.map(\.key) == [CacheKey("bad")])
        try await tasks.storage.remove(key: CacheKey("bad"))
        #expect(try await eventually { titles.undecodable.isEmpty })
    }

    @Test func `A released object ends, also while it reads`() async throws {
        let engine = PausingEngine(base: MemoryStorageEngine())
        let tasks = ObjectStorage<Errand>(storage: engine)
        let isReading = Locked(false)
        engine.afterScan.plan {
            isReading.withLock { $0 = true }
            try await Task.sleep(for: .seconds(3_600))
        }
        var titles: LiveValues<String, Errand>? = LiveValues(of: \.title, in: tasks)
        weak let released = titles
        #expect(try await eventually { isReading.withLock { $0 } })
        titles = nil
        #expect(released == nil)
    }
}
