import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega
@testable import Boutique

/// Live windows of rows with related items. The right rows come from loops over arrays.
@MainActor
@Suite("Live windows with related items", .unhurriedReads)
struct LiveRelatedTests {
    private let folder = TemporaryFolder()
    private static let byTitle = Query<Memo>(sortedBy: SortDescriptor(\.title))

    private nonisolated static let followed: [MemoEngines] = [.memory, .sqlite, .indexedSQLite, .apart, .wrapped]

    @Test("After each change of either side, a window shows the rows of a naive search", arguments: followed)
    func random(_ engines: MemoEngines) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let storages = try await engines.open(in: folder)
        var model = MemoModel()
        for _ in 0..<10 { try await model.change(storages, using: &random) }
        let limits = (0..<5).map { _ in Int.random(in: 0...12, using: &random) }
        let ofBinders = LiveQuery(
            Self.byTitle.including(\.binderID, from: storages.binders), in: storages.memos, limit: limits[0])
        let ofStickers = LiveQuery(
            Self.byTitle.including(\.stickerIDs, from: storages.stickers), in: storages.memos, limit: limits[1])
        let memosOfBinders = LiveQuery(
            Query<Binder>().including(\Memo.binderID, of: storages.memos), in: storages.binders, limit: limits[2])
        let memosOfStickers = LiveQuery(
            Query<Sticker>().including(\Memo.stickerIDs, of: storages.memos), in: storages.stickers, limit: limits[3])
        let atWork = LiveQuery(
            Self.byTitle.filter(
                \.binderID, in: storages.binders, matching: Query(where: #Predicate { $0.name == "Work" })
            ).including(\.author, from: storages.authors), in: storages.memos, limit: limits[4])
        for window in [ofBinders, atWork] as [any Loading] { try await window.itemsHaveLoaded() }
        try await ofStickers.itemsHaveLoaded()
        try await memosOfBinders.itemsHaveLoaded()
        try await memosOfStickers.itemsHaveLoaded()
        var replay: [RelatedRow<Memo, Binder?>] = []
        let events = ofBinders.events
        let last = Locked<[RelatedRow<Memo, Binder?>]>([])
        let replaying = Task {
            for await event in events {
                replay.apply(event)
                last.withLock { [replay] in $0 = replay }
            }
        }
        defer { replaying.cancel() }
        for round in 0..<TestSizes.windowChanges {
            for _ in 0..<Int.random(in: 1...2, using: &random) { try await model.change(storages, using: &random) }
            if round % 10 == 9 { try await ofBinders.loadMore(1) }
            let comment: Comment = "seed \(seed), round \(round), limits \(limits)"
            let (memos, state) = (model.byTitle, model)
            try #require(
                try await eventually {
                    ofBinders.items.map(\.object) == Array(memos.prefix(ofBinders.limit))
                        && ofBinders.items.map(\.related) == memos.prefix(ofBinders.limit).map(state.binder)
                        && ofBinders.hasMore == (memos.count > ofBinders.limit)
                }, comment)
            try #require(
                try await eventually {
                    ofStickers.items.map(\.object) == Array(memos.prefix(limits[1]))
                        && ofStickers.items.map(\.related) == memos.prefix(limits[1]).map(state.stickers)
                }, comment)
            try #require(
                try await eventually {
                    memosOfBinders.items.map(\.object) == Array(state.binders.prefix(limits[2]))
                        && memosOfBinders.items.map(\.related) == state.binders.prefix(limits[2]).map(state.memos)
                }, comment)
            try #require(
                try await eventually {
                    memosOfStickers.items.map(\.object) == Array(state.stickers.prefix(limits[3]))
                        && memosOfStickers.items.map(\.related) == state.stickers.prefix(limits[3]).map(state.memos)
                }, comment)
            let work = memos.filter { state.binder(of: $0)?.name == "Work" }.prefix(limits[4])
            try #require(
                try await eventually {
                    atWork.items.map(\.object) == Array(work) && atWork.items.map(\.related) == work.map(state.author)
                }, comment)
            try #require(try await eventually { last.withLock { $0 } == ofBinders.items }, comment)
        }
    }

    @Test("A change reads what it changes, and nothing that is shown already", arguments: [false, true])
    func reads(_ isSQLite: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let memory = MemoryStorageEngine()
        func collection(_ name: String) throws -> CountingItems {
            CountingItems(of: isSQLite ? try file.collection(named: name) : memory.collection(named: name))
        }
        let (countedMemos, countedBinders) = (try collection("memos"), try collection("binders"))
        let memos = ObjectStorage<Memo>(storage: countedMemos)
        let binders = ObjectStorage<Binder>(storage: countedBinders)
        try await memos.createIndexes()
        let ids = (0..<30).map { _ in UUID() }
        try await binders.store(ids.map { ($0.binderKey, Binder($0, "old")) })
        try await memos.store((0..<200).map { (CacheKey("\($0)"), Memo($0, "\($0 + 1000)", in: ids[$0 % 20])) })
        let window = LiveQuery(Self.byTitle.including(\.binderID, from: binders), in: memos, limit: 10)
        try await window.itemsHaveLoaded()
        // The rows in reserve name 20 binders together with those that are shown.
        #expect(countedBinders.take() == 20)
        _ = countedMemos.take()

        try await binders.store(Binder(ids[3], "new"), forKey: ids[3].binderKey)
        #expect(try await eventually { window.items[3].related?.name == "new" })
        #expect((countedMemos.take(), countedBinders.take()) == (0, 1))

        // Nothing visible names it. The next change shows that this one was noticed.
        try await binders.store(Binder(ids[25], "new"), forKey: ids[25].binderKey)
        try await binders.removeObject(forKey: ids[4].binderKey)
        #expect(try await eventually { window.items[4].related == nil })
        #expect((countedMemos.take(), countedBinders.take()) == (0, 0))

        // A binder that the window does not have, then one that it has.
        try await memos.store(Memo(0, "1000", in: ids[25]), forKey: CacheKey("0"))
        #expect(try await eventually { window.items[0].related?.id == ids[25] })
        #expect(window.items[0].related?.name == "new")
        #expect((countedMemos.take(), countedBinders.take()) == (1, 1))
        try await memos.store(Memo(0, "1000", in: ids[3]), forKey: CacheKey("0"))
        #expect(try await eventually { window.items[0].related?.id == ids[3] })
        #expect((countedMemos.take(), countedBinders.take()) == (1, 0))

        // One that has changed while no row named it.
        try await binders.store(Binder(ids[25], "newer"), forKey: ids[25].binderKey)
        try await memos.store(Memo(0, "1000", in: ids[25]), forKey: CacheKey("0"))
        #expect(try await eventually { window.items[0].related?.id == ids[25] })
        #expect(window.items[0].related?.name == "newer")
        #expect((countedMemos.take(), countedBinders.take()) == (1, 1))

        // An item that appears.
        try await binders.store(Binder(ids[4], "again"), forKey: ids[4].binderKey)
        #expect(try await eventually { window.items[4].related?.name == "again" })
        #expect((countedMemos.take(), countedBinders.take()) == (0, 1))
    }

    @Test("In the other direction, a change reads the changed item", arguments: [false, true])
    func backwardReads(_ isSQLite: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let memory = MemoryStorageEngine()
        func collection(_ name: String) throws -> CountingItems {
            CountingItems(of: isSQLite ? try file.collection(named: name) : memory.collection(named: name))
        }
        let (countedMemos, countedBinders) = (try collection("memos"), try collection("binders"))
        let memos = ObjectStorage<Memo>(storage: countedMemos)
        let binders = ObjectStorage<Binder>(storage: countedBinders)
        let ids = (0..<5).map { _ in UUID() }
        try await binders.store(ids.map { ($0.binderKey, Binder($0, "")) })
        try await memos.store((0..<50).map { (CacheKey("\($0)"), Memo($0, in: ids[$0 % 5])) })
        let window = LiveQuery(Query<Binder>().including(\Memo.binderID, of: memos), in: binders, limit: 10)
        try await window.itemsHaveLoaded()
        #expect(window.items.map(\.related.count) == [10, 10, 10, 10, 10])
        _ = (countedMemos.take(), countedBinders.take())

        // It moves to its place in insertion order.
        try await memos.store(Memo(1, in: ids[2]), forKey: CacheKey("1"))
        #expect(try await eventually { window.items[2].related.map(\.id).prefix(2) == [1, 2] })
        #expect(window.items[1].related.count == 9)
        #expect((countedMemos.take(), countedBinders.take()) == (1, 0))
        try await memos.removeObject(forKey: CacheKey("2"))
        #expect(try await eventually { window.items[2].related.map(\.id).prefix(2) == [1, 7] })
        #expect((countedMemos.take(), countedBinders.take()) == (0, 0))
        try await binders.store(Binder(ids[0], "new"), forKey: ids[0].binderKey)
        #expect(try await eventually { window.items[0].object.name == "new" })
        #expect((countedMemos.take(), countedBinders.take()) == (0, 1))
    }

    @Test(
        "No observer sees a row whose sides are of different moments of a transaction",
        arguments: [MemoEngines.memory, .indexedSQLite, .wrapped])
    func moments(_ engines: MemoEngines) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        let storages = try await engines.open(in: folder)
        // Another connection to the same data, if there can be one.
        let others = engines == .memory ? storages : try await engines.open(in: folder)
        let (left, right) = (MemoModel.binderIDs[0], MemoModel.binderIDs[1])
        try await storages.binders.store([(left.binderKey, Binder(left, "0")), (right.binderKey, Binder(right, "1"))])
        try await storages.memos.store((0..<3).map { (CacheKey("\($0)"), Memo($0, "0", in: left)) })
        let forward = LiveQuery(
            Self.byTitle.including(\.binderID, from: storages.binders), in: storages.memos, limit: 2)
        let backward = LiveQuery(
            Query<Binder>().including(\Memo.binderID, of: storages.memos), in: storages.binders)
        let memos = try await Store<Memo>(storage: storages.memos.storage)
        let binders = try await Store<Binder>(storage: storages.binders.storage)
        try await forward.itemsHaveLoaded()
        try await backward.itemsHaveLoaded()
        // Each memo has the name of its binder as its title.
        let wrong = Locked<[String]>([])
        let observations = Locked(0)
        let check: @MainActor () -> Void = {
            observations.withLock { $0 += 1 }
            for row in forward.items where row.object.title != row.related?.name {
                wrong.withLock { $0.append("\(row)") }
            }
            for row in backward.items {
                for memo in row.related where memo.title != row.object.name {
                    wrong.withLock { $0.append("\(row.object) \(memo)") }
                }
            }
            // The stores and the windows change together.
            for row in forward.items where memos[row.object.id] != row.object || binders[left]?.name == nil {
                wrong.withLock { $0.append("\(row) \(String(describing: memos[row.object.id]))") }
            }
        }
        var subscriptions: Set<AnyCancellable> = []
        forward.$items.sink { _ in check() }.store(in: &subscriptions)
        backward.$items.sink { _ in check() }.store(in: &subscriptions)
        memos.$items.sink { _ in check() }.store(in: &subscriptions)
        binders.$items.sink { _ in check() }.store(in: &subscriptions)

        let count = TestSizes.transfers
        let foreign = Task.detached {
            for number in 0..<count {
                try await others.memos.storage.transaction { transaction in
                    let to = number % 2 == 0 ? right : left
                    let name = "f\(number)"
                    for id in 0..<3 {
                        try transaction.store(Memo(id, name, in: to), forKey: CacheKey("\(id)"), in: others.memos)
                    }
                    try transaction.store(Binder(to, name), forKey: to.binderKey, in: others.binders)
                }
            }
        }
        let own = Task {
            for number in 0..<count {
                try await memos.transaction(with: binders) { memos, binders in
                    let to = number % 3 == 0 ? right : left
                    let name = "o\(number)"
                    for id in 0..<3 { memos.insert(Memo(id, name, in: to)) }
                    binders.insert(Binder(to, name))
                }
                if number % 10 == 0 { try await forward.reload() }
                if number % 10 == 5 { try await forward.loadMore(1) }
            }
        }
        for task in [foreign, own] { try await task.value }
        try await memos.transaction(with: binders) { _, _ in }
        check()
        #expect(wrong.withLock { $0 }.prefix(5) == [], "seed \(seed), \(observations.withLock { $0 }) observations")
        #expect(observations.withLock { $0 } > count)
        try await forward.reload()
        try await backward.reload()
        check()
        #expect(wrong.withLock { $0 }.prefix(5) == [])
    }

    @Test("A window alone, without stores, shows both sides of one moment, too", arguments: [false, true])
    func alone(_ isCached: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let other = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        func collection(_ name: String) throws -> any StorageEngine {
            isCached ? try file.collection(named: name).cached() : try file.collection(named: name)
        }
        let memos = ObjectStorage<Memo>(storage: try collection("memos"))
        let binders = ObjectStorage<Binder>(storage: try collection("binders"))
        let otherMemos = ObjectStorage<Memo>(storage: try other.collection(named: "memos"))
        let otherBinders = ObjectStorage<Binder>(storage: try other.collection(named: "binders"))
        let id = MemoModel.binderIDs[0]
        try await memos.store((0..<40).map { (CacheKey("\($0)"), Memo($0, "0", in: id)) })
        try await binders.store(Binder(id, "0"), forKey: id.binderKey)
        let query = Query<Memo>().including(\.binderID, from: binders)
        let window = LiveQuery(query, in: memos, limit: 1)
        try await window.itemsHaveLoaded()
        let wrong = Locked<[String]>([])
        let check: @MainActor () -> Void = {
            for row in window.items where row.object.title != row.related?.name {
                wrong.withLock { $0.append("\(row)") }
            }
        }
        let subscription = window.$items.sink { _ in check() }
        defer { subscription.cancel() }
        let hasEnded = Locked(false)
        let writing = Task.detached {
            var number = 0
            while !hasEnded.withLock({ $0 }) {
                number += 1
                let name = "\(number)"
                try await other.transaction { transaction in
                    for memo in 0..<40 {
                        try transaction.store(Memo(memo, name, in: id), forKey: CacheKey("\(memo)"), in: otherMemos)
                    }
                    try transaction.store(Binder(id, name), forKey: id.binderKey, in: otherBinders)
                }
            }
            return number
        }
        // Reads all rows, then more than are in reserve, so that some are read later than the others.
        for _ in 0..<2 * TestSizes.transfers {
            try await window.change(to: query, limit: 1)
            check()
            try await window.loadMore(30)
            check()
        }
        hasEnded.withLock { $0 = true }
        let count = try await writing.value
        #expect(count > 1)
        #expect(try await eventually { window.items.first?.related?.name == "\(count)" })
        #expect(window.items.count == 31)
        check()
        #expect(wrong.withLock { $0 }.prefix(3) == [])
    }

    @Test("A window changes to another query, and keeps its own if it can't")
    func change() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let ids = MemoModel.binderIDs
        try await storages.binders.store(Binder(ids[0], "a"), forKey: ids[0].binderKey)
        try await storages.memos.store((0..<4).map { (CacheKey("\($0)"), Memo($0, "\($0)", in: ids[0])) })
        let window = LiveQuery(Self.byTitle.including(\.binderID, from: storages.binders), in: storages.memos)
        try await window.itemsHaveLoaded()
        let odd = Query<Memo>(where: #Predicate { $0.id % 2 == 1 }).including(\.binderID, from: storages.binders)
        try await window.change(to: odd, limit: 1)
        #expect(window.items.map(\.object.id) == [1])
        #expect(window.hasMore)
        await #expect(throws: StorageError.self) {
            try await window.change(to: Query<RelatedRow<Memo, Binder?>>())
        }
        #expect(window.items.map(\.object.id) == [1])
        // Still followed, on both sides.
        try await storages.binders.store(Binder(ids[0], "b"), forKey: ids[0].binderKey)
        #expect(try await eventually { window.items.first?.related?.name == "b" })
    }

    @Test("A window of plain objects follows the items behind its conditions, also after a change of the query")
    func plain() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let ids = MemoModel.binderIDs
        try await storages.binders.store(Binder(ids[0], "a"), forKey: ids[0].binderKey)
        try await storages.memos.store((0..<3).map { (CacheKey("\($0)"), Memo($0, in: ids[0])) })
        let window = LiveQuery(Query<Memo>(), in: storages.memos)
        try await window.itemsHaveLoaded()
        try await window.change(
            to: Query().filter(\.binderID, in: storages.binders, matching: Query(where: #Predicate { $0.name == "b" })))
        #expect(window.items.isEmpty)
        try await storages.binders.store(Binder(ids[0], "b"), forKey: ids[0].binderKey)
        #expect(try await eventually { window.items.count == 3 })
        try await storages.memos.store(Memo(7, in: ids[0]), forKey: CacheKey("7"))
        #expect(try await eventually { window.items.count == 4 })
        try await storages.binders.removeObject(forKey: ids[0].binderKey)
        #expect(try await eventually { window.items.isEmpty })
    }

    @Test("Undecodable related items are reported until they change")
    func undecodable() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let id = MemoModel.binderIDs[0]
        try await storages.memos.store(Memo(1, in: id), forKey: CacheKey("1"))
        let window = LiveQuery(Query<Memo>().including(\.binderID, from: storages.binders), in: storages.memos)
        try await window.itemsHaveLoaded()
        try await storages.binders.storage.write(Data("{}".utf8), key: id.binderKey)
        #expect(try await eventually { window.undecodable.map(\.key) == [id.binderKey] })
        #expect(window.items.map(\.related) == [nil])
        try await storages.binders.store(Binder(id, "a"), forKey: id.binderKey)
        #expect(try await eventually { window.undecodable.isEmpty && window.items.first?.related?.name == "a" })
    }
}

private protocol Loading {
    @MainActor func itemsHaveLoaded() async throws
}

extension LiveQuery: Loading {}

extension UUID {
    fileprivate var binderKey: CacheKey { CacheKey(uuidString) }
}

extension Array {
    fileprivate mutating func apply(_ event: LiveQueryEvent<Element>) where Element: StorableItem {
        switch event {
        case .loaded(let items): self = items
        case .inserted(let item, let index): insert(item, at: index)
        case .updated(let item, let index): self[index] = item
        case .moved(let item, let source, let target):
            remove(at: source)
            insert(item, at: target)
        case .removed(_, let index): remove(at: index)
        }
    }
}
