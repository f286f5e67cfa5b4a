import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// A window without an engine, whose rows are in the order of their positions.
private struct ModelContents: WindowContentsValue {
    var window: QueryWindow<Errand>
    var changedKeys: Set<CacheKey>? = []
    let hasMore = false
    let undecodable: [StorageError] = []

    /// - Parameter comparisons: Counts the comparisons of places.
    init(_ rows: [QueryRow<Errand>], limit: Int, comparisons: Locked<Int> = Locked(0)) {
        window = QueryWindow(limit: limit) { left, right in
            comparisons.withLock { $0 += 1 }
            return left.position < right.position
        }
        window.replace(with: rows, hasMore: false)
    }

    var shown: [QueryRow<Errand>] { window.shown }
    var shownCount: Int { window.shownCount }
    func shownRow(at index: Int) -> QueryRow<Errand> { window.rows[index] }
    func shownIndex(of key: CacheKey) -> Int? { window.shownIndex(of: key) }
    mutating func didShow() { changedKeys = [] }
    var rowCount: Int { window.rows.count }
    var limit: Int { window.limit }

    mutating func apply(_ keys: [CacheKey], _ rows: [QueryRow<Errand>]) {
        changedKeys?.formUnion(keys)
        window.apply(Set(keys), rows)
    }
}

/// Returns the row of an errand whose rank is its place.
private func row(_ errand: Errand) -> QueryRow<Errand> {
    let place = QueryPlace(QueryKeys([]), position: errand.rank ?? 0)
    return QueryRow((errand.key, errand, [errand.title, "\(errand.rank ?? 0)"].hashValue), at: place)
}

/// The addresses of the chunks of a window's rows.
private func addresses(of contents: ModelContents) -> Set<UnsafePointer<QueryRow<Errand>>?> {
    Set(contents.window.rows.chunks.map { $0.withUnsafeBufferPointer(\.baseAddress) })
}

@MainActor
@Suite struct WindowCostTests {

    /// The oracle is `sorted`, and an array that follows the events.
    @Test func `Events of random changes lead from the old rows to the new ones`() throws {
        let seed = Seed.current
        print("window costs: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<40 {
            let size = [0, 1, 17, 200, 700, 3_000][round % 6]
            let limit = Int.random(in: 0...size + 20, using: &random)
            var all = Dictionary(uniqueKeysWithValues: (0..<size).map { ($0, Errand(id: $0, rank: 10 * $0)) })
            func expected() -> ArraySlice<Errand> { all.values.sorted { $0.rank! < $1.rank! }.prefix(limit) }
            var contents = ModelContents(
                all.values.map(row).sorted { $0.place.position < $1.place.position }, limit: limit)
            var items = contents.shown.map(\.item)
            for step in 0..<12 {
                let count = [1, 1, 2, 5, 60, size].randomElement(using: &random)!
                let old = contents
                // Some steps are shown together with the next one.
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    var changed: [Int: Errand?] = [:]
                    for _ in 0..<count {
                        let id = Int.random(in: 0..<size + 5, using: &random)
                        var errand = all[id] ?? Errand(id: id)
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0: changed[id] = .some(nil)
                        case 1: errand.title += "!"
                        default: errand.rank = nil
                        }
                        if errand.rank == nil {
                            let taken = Set(all.values.map(\.rank)).union(changed.values.map { $0?.rank })
                            errand.rank = (0...).lazy.map { _ in Int.random(in: 0..<20 * size + 99, using: &random) }
                                .first { !taken.contains($0) }
                        }
                        if changed[id] == nil { changed[id] = errand }
                        if count > 60, changed.count > 60 { break }
                    }
                    for (id, errand) in changed { all[id] = errand }
                    contents.apply(changed.keys.map { Errand(id: $0).key }, changed.values.compactMap { $0.map(row) })
                }
                let update = WindowUpdate(contents, after: old)
                for event in update.events { items.apply(event) }
                // A window without rows behind its reserve doesn't know of them.
                if contents.window.hasRowsBeyond {
                    #expect(items == Array(expected().prefix(items.count)), "seed \(seed), \(round), \(step)")
                } else {
                    #expect(items == Array(expected()), "seed \(seed), round \(round), step \(step)")
                }
                #expect(update.all == nil || update.all?.items == items)
                #expect(contents.shown.map(\.item) == items)
                contents.didShow()
            }
        }
    }

    @Test func `A change compares as many places as a binary search does`() throws {
        for size in [1_000, 20_000] {
            let comparisons = Locked(0)
            let errands = (0..<size).map { Errand(id: $0, rank: 2 * $0) }
            let contents = ModelContents(errands.map(row), limit: size, comparisons: comparisons)
            var worst = 0
            for (id, rank) in [(0, 2 * size), (size - 1, -1), (size / 2, 3), (5, 9), (255, 513), (256, 513)] {
                comparisons.withLock { $0 = 0 }
                var new = contents
                new.apply([errands[id].key], [row(Errand(id: id, rank: rank))])
                let update = WindowUpdate(new, after: contents)
                #expect(update.all == nil, "The main actor applies the event.")
                #expect(update.events.count == 1)
                worst = max(worst, comparisons.withLock { $0 })
            }
            // A removal, an insertion, and three searches for indexes, at the beginning and at the end.
            let depth = (1...).first { 1 << $0 > size }!
            #expect(worst <= 10 * (depth + 3), "\(worst) of \(size) rows")
        }
    }

    @Test func `A step copies one chunk of rows, and leaves earlier copies as they are`() {
        let errands = (0..<20_000).map { Errand(id: $0, rank: $0) }
        let contents = ModelContents(errands.map(row), limit: 20_000)
        var new = contents
        new.apply([errands[7].key, errands[9_000].key], [])
        #expect(contents.shown.map(\.item) == errands)
        #expect(new.shown.map(\.item.id) == (0..<20_000).filter { $0 != 7 && $0 != 9_000 })
        let (old, shared) = (addresses(of: contents), addresses(of: new).intersection(addresses(of: contents)))
        #expect(old.count > 70 && shared.count == old.count - 2)
    }

    @Test func `Reordering a large window is prepared as a whole`() {
        let errands = (0..<20_000).map { Errand(id: $0, rank: $0) }
        let contents = ModelContents(errands.map(row), limit: 20_000)
        var reversed = ModelContents(errands.reversed().map { row(Errand(id: $0.id, rank: -$0.id)) }, limit: 20_000)
        reversed.changedKeys = nil
        let update = WindowUpdate(reversed, after: contents)
        #expect(update.all?.items.map(\.id) == (0..<20_000).reversed())
        // All but one are moved, and that one is updated.
        #expect(update.events.count == 20_000)
    }

    @Test(arguments: [1_000, 20_000])
    func `A change of one item moves the others in place, although observers follow it`(_ size: Int) async throws {
        let tasks = ObjectStorage<Errand>(storage: MemoryStorageEngine())
        let errands = (0..<size).map { Errand(id: $0, rank: 2 * $0) }
        try await tasks.store(errands)
        let window = LiveQuery(Query<Errand>(sortedBy: SortDescriptor(\.rank)), in: tasks, limit: size)
        try await window.itemsHaveLoaded()
        let published = Locked(0)
        let subscription = window.$items.sink { items in published.withLock { $0 += items.count } }
        defer { subscription.cancel() }
        let read = Locked(0)
        let events = window.events
        let reader = Task { for await _ in events { read.withLock { $0 += 1 } } }
        defer { reader.cancel() }
        #expect(try await eventually { read.withLock { $0 } == 1 })
        let address = window.items.withUnsafeBufferPointer { $0.baseAddress }
        for (id, rank) in [(3, 2 * size), (size - 1, -1), (size / 2, 11)] {
            let errand = Errand(id: id, title: "changed", rank: rank)
            let count = read.withLock { $0 }
            try await tasks.store(errand, forKey: errand.key)
            #expect(try await eventually { window.items.contains(errand) && read.withLock { $0 } == count + 1 })
            #expect(window.items.withUnsafeBufferPointer { $0.baseAddress } == address)
        }
        #expect(published.withLock { $0 } == 4 * size)
    }
}
