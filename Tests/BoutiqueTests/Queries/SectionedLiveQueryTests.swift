import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

extension Errand {
    /// The section of an errand, which the order by rank groups.
    fileprivate var decade: Int? { rank.map { $0 / 10 } }
}

/// The sections by hand: in the order of the first items, each with all of its items.
private func sections<Value: Hashable>(of items: [Errand], by value: (Errand) -> Value) -> [(Value, [Errand])] {
    var order: [Value] = []
    for item in items where !order.contains(value(item)) { order.append(value(item)) }
    let groups = Dictionary(grouping: items, by: value)
    return order.map { ($0, groups[$0] ?? []) }
}

@MainActor
@Suite struct SectionedLiveQueryTests {
    private let folder = TemporaryFolder()
    private nonisolated static let byRank = Query<Errand>(sortedBy: SortDescriptor(\.rank))

    private func matches<Value: Hashable>(
        _ window: SectionedLiveQuery<Value, Errand>, _ value: (Errand) -> Value
    ) -> Bool {
        let expected = sections(of: window.items, by: value)
        return window.sections.map(\.value) == expected.map(\.0) && window.sections.map(\.items) == expected.map(\.1)
    }

    /// The oracle is `Dictionary(grouping:)` over `Array.sorted`.
    @Test(arguments: [WindowEngine.memory, .indexedSQLite])
    func `Sections follow random changes, more items and other queries`(_ engine: WindowEngine) async throws {
        let seed = Seed.current
        print("sections: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let tasks = try await engine.storage(in: folder)
        var all: [Int: Errand] = [:]
        func change(_ count: Int) async throws {
            var changed: [Errand] = []
            for id in Set((0..<count).map { _ in Int.random(in: 0..<90, using: &random) }) {
                let title = ["a", "b", "c"].randomElement(using: &random)!
                let rank = Int.random(in: 0..<9, using: &random) == 0 ? nil : Int.random(in: 0..<60, using: &random)
                changed.append(Errand(id: id, title: title, rank: rank))
            }
            for errand in changed { all[errand.id] = errand }
            try await tasks.store(changed)
        }
        try await change(60)
        let windows = (
            SectionedLiveQuery(Self.byRank, in: tasks, limit: 30, sectionedBy: \.decade),
            // The order by rank does not group the titles.
            SectionedLiveQuery(Self.byRank, in: tasks, limit: 30, sectionedBy: \.title)
        )
        var isReversed = false
        for round in 0..<TestSizes.windowChanges {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                for window in [windows.0, windows.1] as [LiveQuery<Errand>] { try await window.loadMore(3) }
            case 1:
                isReversed.toggle()
                let query = Query<Errand>(sortedBy: SortDescriptor(\.rank, order: isReversed ? .reverse : .forward))
                for window in [windows.0, windows.1] as [LiveQuery<Errand>] { try await window.change(to: query) }
            case 2:
                let ids = Set((0..<6).map { _ in Int.random(in: 0..<90, using: &random) })
                for id in ids { all[id] = nil }
                try await tasks.removeObject(forKeys: ids.map { Errand(id: $0).key })
            default: try await change(Int.random(in: 1...5, using: &random))
            }
            let ranks = all.values.map(\.rank).sorted { left, right in
                guard let left, let right else { return left != nil && right == nil }
                return isReversed ? left > right : left < right
            }
            for window in [windows.0, windows.1] as [LiveQuery<Errand>] {
                #expect(
                    try await eventually {
                        window.items.map(\.rank) == Array(ranks.prefix(window.limit))
                            && window.items.allSatisfy { all[$0.id] == $0 }
                    }, "seed \(seed), round \(round)")
            }
            #expect(matches(windows.0) { $0.decade }, "seed \(seed), round \(round)")
            #expect(matches(windows.1) { $0.title }, "seed \(seed), round \(round)")
        }
    }

    @Test func `Sections are published, and observed together with the items`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        let window = SectionedLiveQuery(Self.byRank, in: tasks, sectionedBy: \.decade)
        try await window.itemsHaveLoaded()
        #expect(window.sections.isEmpty)
        let published = Locked<[[Int?]]>([])
        let subscription = window.$sections.sink { sections in published.withLock { $0.append(sections.map(\.value)) } }
        defer { subscription.cancel() }
        let observed = Locked(false)
        withObservationTracking {
            _ = window.sections
        } onChange: {
            observed.withLock { $0 = true }
        }
        try await tasks.store([Errand(id: 1, rank: 5)])
        #expect(try await eventually { published.withLock { $0 } == [[], [0]] })
        #expect(observed.withLock { $0 })
        try await tasks.store([Errand(id: 2, rank: 25), Errand(id: 3, rank: 7)])
        #expect(try await eventually { published.withLock { $0 } == [[], [0], [0, 2]] })
        #expect(window.sections.map(\.id) == [0, 2])
        #expect(window.sections.map { $0.items.map(\.id) } == [[1, 3], [2]])
    }

    @Test func `A change of one item moves only the items of its section, in place`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        try await tasks.store((0..<2_000).map { Errand(id: $0, rank: 10 * $0 / 100) })
        let window = SectionedLiveQuery(Self.byRank, in: tasks, limit: 2_000, sectionedBy: \.decade)
        try await window.itemsHaveLoaded()
        func addresses() -> [UnsafePointer<Errand>?] {
            window.sections.map { $0.items.withUnsafeBufferPointer(\.baseAddress) }
        }
        let before = addresses()
        #expect(before.count == 20)
        try await tasks.store([Errand(id: 250, title: "changed", rank: 25)])
        #expect(try await eventually { window.sections[2].items.contains { $0.title == "changed" } })
        #expect(addresses() == before)
        try await tasks.removeObject(forKey: Errand(id: 301).key)
        #expect(try await eventually { window.items.count == 1_999 })
        #expect(addresses() == before)
    }

    @Test func `A value that is not equal to itself is a section for each item`() {
        let list = SectionList(by: \Errand.half)
        var sections = list.replaced(with: (0..<3).map { Errand(id: $0, rank: 2) })
        #expect(sections.sections.map(\.items.count) == [3])
        sections.apply(.inserted(Errand(id: 4), at: 1))
        sections.apply(.inserted(Errand(id: 5), at: 2))
        #expect(sections.sections.map { $0.items.map(\.id) } == [[0, 1, 2], [4], [5]])
        sections.apply(.removed(Errand(id: 4), at: 1))
        #expect(sections.sections.map { $0.items.map(\.id) } == [[0, 1, 2], [5]])
    }

    @Test func `Rows with related items are in sections by a property of the related item`() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let binders = (0..<2).map { Binder(UUID(), "binder \($0)") }
        for binder in binders { try await storages.binders.store(binder, forKey: binder.key) }
        for id in 0..<6 {
            let memo = Memo(id, "memo \(id)", in: id < 5 ? binders[id / 3].id : nil)
            try await storages.memos.store(memo, forKey: memo.key)
        }
        let query = Query<Memo>(sortedBy: SortDescriptor(\.title)).including(\.binderID, from: storages.binders)
        let window = SectionedLiveQuery(query, in: storages.memos, sectionedBy: \.related?.name)
        try await window.itemsHaveLoaded()
        #expect(window.sections.map(\.value) == ["binder 0", "binder 1", nil])
        try await storages.binders.store(Binder(binders[1].id, "renamed"), forKey: binders[1].key)
        #expect(try await eventually { window.sections.map(\.value) == ["binder 0", "renamed", nil] })
        #expect(window.sections.map { $0.items.map(\.object.id) } == [[0, 1, 2], [3, 4], [5]])
    }

    private final class Owner: ObservableObject {
        #if !canImport(Combine)
        let objectWillChange = ObservableObjectPublisher()
        #endif
        @QueriedSections var decades: [LiveSection<Int?, Errand>]

        init(_ tasks: ObjectStorage<Errand>) {
            _decades = QueriedSections(byRank, in: tasks, limit: 5, sectionedBy: \.decade)
        }
    }

    @Test func `A property has the sections, and notifies its object`() async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        let owner = Owner(tasks)
        try await owner.$decades.itemsHaveLoaded()
        let count = Locked(0)
        let subscription = owner.objectWillChange.sink { _ in count.withLock { $0 += 1 } }
        defer { subscription.cancel() }
        try await tasks.store([Errand(id: 1, rank: 15)])
        #expect(try await eventually { owner.decades.map(\.value) == [1] })
        #expect(count.withLock { $0 } > 0)
    }
}

extension Errand {
    fileprivate var half: Double { rank.map { Double($0) / 2 } ?? .nan }
}
