import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Conditions through a reference. The right results come from loops over arrays.
@Suite("Conditions through a reference", .unhurriedReads)
struct ReferenceFilterTests {
    private let folder = TemporaryFolder()

    @Test("The objects are those that a naive search finds", arguments: MemoEngines.allCases)
    func random(_ engines: MemoEngines) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let storages = try await engines.open(in: folder)
        let memos = storages.memos
        var model = MemoModel()
        for round in 0..<(engines == .disk ? 15 : 60) {
            for _ in 0..<3 { try await model.change(storages, using: &random) }
            let comment: Comment = "seed \(seed), round \(round)"
            let (name, age) = (MemoModel.names.randomElement(using: &random)!, Int.random(in: 0..<3, using: &random))
            let query = Query<Memo>(sortedBy: SortDescriptor(\.title))
                .filter(\.binderID, in: storages.binders, matching: Query(where: #Predicate { $0.name == name }))
            let expected = model.byTitle.filter { model.binder(of: $0)?.name == name }
            #expect(try await memos.count(query) == expected.count, comment)
            #expect(try await memos.exists(query) == !expected.isEmpty, comment)
            let limit = Int.random(in: 1...5, using: &random)
            if engines != .disk {
                #expect(try await memos.first(query)?.object == expected.first, comment)
                var (found, next) = ([Memo](), QueryCursor?.none)
                repeat {
                    let page = try await memos.fetch(query, limit: limit, after: next)
                    (found, next) = (found + page.objects, page.next)
                } while next != nil
                #expect(found == expected, comment)
            }

            let stickers = Query<Memo>().filter(
                \.stickerIDs, in: storages.stickers, matching: Query(where: #Predicate { $0.name == name }))
            let withSticker = model.memos.filter { model.stickers(of: $0).contains { $0.name == name } }
            #expect(Set(try await memos.fetch(stickers).objects.map(\.id)) == Set(withSticker.map(\.id)), comment)

            // With another condition, and two references.
            let both = query.filter(#Predicate { $0.id % 2 == 0 }).filter(
                \.author, in: storages.authors, matching: Query(where: #Predicate { $0.age == age }))
            let expectedBoth = expected.filter { $0.id % 2 == 0 && model.author(of: $0)?.age == age }
            #expect(Set(try await memos.fetchKeys(both)) == Set(expectedBoth.map(\.key)), comment)
            #expect(try await memos.sum(of: \.id, both) == expectedBoth.reduce(0) { $0 + $1.id }, comment)

            // With related items.
            let including = try await memos.fetch(both.including(\.binderID, from: storages.binders)).rows
            #expect(Set(including.map(\.key)) == Set(expectedBoth.map(\.key)), comment)
            #expect(including.allSatisfy { $0.related?.name == name }, comment)
        }
        let query = Query<Memo>().filter(
            \.binderID, in: storages.binders, matching: Query(where: #Predicate { $0.name == "Work" }))
        let removed = model.memos.filter { model.binder(of: $0)?.name == "Work" }
        #expect(try await memos.removeObjects(matching: query) == removed.count)
        #expect(try await memos.fetchCount() == model.memos.count - removed.count)
        #expect(try await memos.count(query) == 0)
    }

    @Test("A chain of references is followed, in a reference to its own collection, too")
    func chain() async throws {
        struct Step: Queryable, Identifiable, Sendable, Equatable {
            var id: Int
            var previous: Int?
            var name: String
            static let indexes = [Index("previous", \Step.previous)]
        }
        let steps = ObjectStorage<Step>(storage: try SQLiteStorageEngine(opening: folder.directory))
        try await steps.createIndexes()
        try await steps.store(
            (0..<6).map { (CacheKey("\($0)"), Step(id: $0, previous: $0 == 0 ? nil : $0 - 1, name: "\($0)")) })
        let first = Query<Step>(where: #Predicate { $0.name == "0" })
        let third = Query<Step>().filter(
            \.previous, in: steps, matching: Query().filter(\.previous, in: steps, matching: first))
        #expect(try await steps.fetch(third).objects.map(\.id) == [2])
        let row = try await steps.fetch(third.including(\.previous, from: steps)).rows.first
        #expect(row?.related?.id == 1)
        let back = try await steps.fetch(third.including(\Step.previous, of: steps)).rows.first
        #expect(back?.related.map(\.id) == [3])
    }

    @Test("With indexes, the matching items and the objects that refer to them are read, with few requests")
    func cost() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory)
        let recorded = RecordingStorageEngine(try file.collection(named: "memos"))
        let (countedMemos, countedBinders) = (
            CountingItems(of: recorded), CountingItems(of: try file.collection(named: "binders"))
        )
        let (memos, binders) = (
            ObjectStorage<Memo>(storage: countedMemos), ObjectStorage<Binder>(storage: countedBinders)
        )
        try await memos.createIndexes()
        try await binders.createIndexes()
        let ids = (0..<300).map { _ in UUID() }
        try await binders.store(
            ids.enumerated().map { (CacheKey($1.uuidString), Binder($1, $0 % 30 == 0 ? "Work" : "\($0)")) })
        try await memos.store((0..<6_000).map { (CacheKey("\($0)"), Memo($0, "t\($0)", in: ids[$0 % 300])) })
        let query = Query<Memo>().filter(
            \.binderID, in: binders, matching: Query(where: #Predicate { $0.name == "Work" }))
        #expect(try await memos.fetch(query).objects.count == 200)
        _ = (countedMemos.take(), countedBinders.take())
        recorded.clearCalls()
        #expect(
            try await memos.fetch(query).objects.map(\.id) == (0..<6_000).filter { $0 % 30 == 0 && $0 % 300 % 30 == 0 })
        #expect(countedBinders.take() == 10)
        #expect(countedMemos.take() == 200)
        // Ten binders, each with two ranges: they are counted with one request, and read with another.
        #expect(recorded.calls.filter { $0.operation == .scan }.count <= 3)
        #expect(try await memos.count(query) == 200)
        #expect(countedMemos.take() == 200)
        let sorted = query.sorted(by: SortDescriptor(\.title, order: .reverse))
        #expect(try await memos.fetch(sorted, limit: 3).objects.count == 3)
        #expect(countedMemos.take() <= 300)
    }

    @Test("The matching items and the objects are of one moment")
    func moments() async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let other = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let memos = ObjectStorage<Memo>(storage: try file.collection(named: "memos").cached())
        let binders = ObjectStorage<Binder>(storage: try file.collection(named: "binders").cached())
        let otherMemos = ObjectStorage<Memo>(storage: try other.collection(named: "memos"))
        let otherBinders = ObjectStorage<Binder>(storage: try other.collection(named: "binders"))
        let (left, right) = (MemoModel.binderIDs[0], MemoModel.binderIDs[1])
        try await memos.store(Memo(1, in: left), forKey: CacheKey("1"))
        try await binders.store(Binder(left, "Work"), forKey: CacheKey(left.uuidString))
        try await binders.store(Binder(right, "Home"), forKey: CacheKey(right.uuidString))
        let hasEnded = Locked(false)
        // The memo is always in the binder for work, which is another one each time.
        let writing = Task.detached {
            var isLeft = true
            while !hasEnded.withLock({ $0 }) {
                isLeft.toggle()
                let now = isLeft
                try await other.transaction { transaction in
                    try transaction.store(Memo(1, in: now ? left : right), forKey: CacheKey("1"), in: otherMemos)
                    try transaction.store(
                        Binder(left, now ? "Work" : "Home"), forKey: CacheKey(left.uuidString), in: otherBinders)
                    try transaction.store(
                        Binder(right, now ? "Home" : "Work"), forKey: CacheKey(right.uuidString), in: otherBinders)
                }
            }
        }
        let query = Query<Memo>().filter(
            \.binderID, in: binders, matching: Query(where: #Predicate { $0.name == "Work" }))
        for _ in 0..<300 { #expect(try await memos.count(query) == 1) }
        hasEnded.withLock { $0 = true }
        try await writing.value
    }

    @Test("Undecodable items that might match are errors, or are omitted and listed")
    func undecodable() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let ids = MemoModel.binderIDs
        try await storages.memos.store([(CacheKey("1"), Memo(1, in: ids[0])), (CacheKey("2"), Memo(2, in: ids[1]))])
        try await storages.binders.store(Binder(ids[0], "a"), forKey: CacheKey(ids[0].uuidString))
        try await storages.binders.storage.write(Data("{}".utf8), key: CacheKey(ids[1].uuidString))
        let query = Query<Memo>().filter(\.binderID, in: storages.binders, matching: Query())
        await #expect(throws: StorageError.self) { try await storages.memos.fetch(query) }
        let page = try await storages.memos.fetch(query, omittingUndecodable: true)
        #expect(page.objects.map(\.id) == [1])
        #expect(page.undecodable.map(\.key) == [CacheKey(ids[1].uuidString)])
    }
}
