import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

/// Queries that include related items. The right results come from loops over arrays.
@Suite("Related items", .unhurriedReads)
struct RelatedQueryTests {
    private let folder = TemporaryFolder()

    @Test("Pages have the related items that a naive search finds, in both directions", arguments: MemoEngines.allCases)
    func random(_ engines: MemoEngines) async throws {
        let seed = Seed.current
        print("EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let storages = try await engines.open(in: folder)
        var model = MemoModel()
        let byTitle = Query<Memo>(sortedBy: SortDescriptor(\.title))
        for round in 0..<(engines == .disk ? 15 : 60) {
            for _ in 0..<3 { try await model.change(storages, using: &random) }
            // On disk, items are in the order of their names.
            let isOrdered = engines != .disk
            func sorted(_ memos: [Memo]) -> [Memo] { isOrdered ? memos : memos.sorted { $0.id < $1.id } }
            let comment: Comment = "seed \(seed), round \(round)"

            let limit = Int.random(in: 1...9, using: &random)
            if isOrdered {
                let ofBinders = try await pages(
                    of: byTitle.including(\.binderID, from: storages.binders), limit, storages)
                #expect(ofBinders.map(\.object) == model.byTitle, comment)
                #expect(ofBinders.map(\.related) == model.byTitle.map(model.binder), comment)
                let ofStickers = try await pages(
                    of: byTitle.including(\.stickerIDs, from: storages.stickers), limit, storages)
                #expect(ofStickers.map(\.object) == model.byTitle, comment)
                #expect(ofStickers.map(\.related) == model.byTitle.map(model.stickers), comment)
            }
            let ofAuthors = try await storages.memos.fetch(Query().including(\.author, from: storages.authors)).rows
            #expect(sorted(ofAuthors.map(\.object)) == sorted(model.memos), comment)
            #expect(ofAuthors.map(\.related) == ofAuthors.map { model.author(of: $0.object) }, comment)

            let binders = try await storages.binders.fetch(
                Query<Binder>().including(\Memo.binderID, of: storages.memos)
            ).rows
            #expect(binders.count == model.binders.count, comment)
            for row in binders { #expect(sorted(row.related) == sorted(model.memos(of: row.object)), comment) }
            let stickers = try await storages.stickers.fetch(
                Query<Sticker>().including(\Memo.stickerIDs, of: storages.memos), limit: 3
            ).rows
            #expect(stickers.count == min(model.stickers.count, 3), comment)
            for row in stickers { #expect(sorted(row.related) == sorted(model.memos(of: row.object)), comment) }
            let authors = try await storages.authors.fetch(
                Query<Author>().including(\Memo.author, of: storages.memos)
            ).rows
            #expect(authors.count == model.authors.count, comment)
            for row in authors { #expect(sorted(row.related) == sorted(model.memos(of: row.object)), comment) }
        }
    }

    /// All pages of a query.
    private func pages<Related>(
        of query: RelatedQuery<Memo, Related>, _ limit: Int, _ storages: MemoStorages
    ) async throws -> [RelatedRow<Memo, Related>] {
        var (rows, next) = ([RelatedRow<Memo, Related>](), QueryCursor?.none)
        repeat {
            let page = try await storages.memos.fetch(query, limit: limit, after: next)
            #expect(page.rows.count <= limit)
            rows += page.rows
            next = page.next
        } while next != nil
        return rows
    }

    @Test("A page of 50 with its related items takes two reads, in both directions", arguments: [false, true])
    func reads(_ isSQLite: Bool) async throws {
        let file = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let memory = MemoryStorageEngine()
        func collection(_ name: String) throws -> RecordingStorageEngine {
            RecordingStorageEngine(isSQLite ? try file.collection(named: name) : memory.collection(named: name))
        }
        let (recordedMemos, recordedBinders) = (try collection("memos"), try collection("binders"))
        let (memos, binders) = (
            ObjectStorage<Memo>(storage: recordedMemos), ObjectStorage<Binder>(storage: recordedBinders)
        )
        try await memos.createIndexes()
        let ids = (0..<80).map { _ in UUID() }
        try await binders.store(ids.map { (CacheKey($0.uuidString), Binder($0, "b")) })
        try await memos.store((0..<400).map { (CacheKey("\($0)"), Memo($0, "t\($0 % 7)", in: ids[$0 % 80])) })
        let query = Query<Memo>(sortedBy: SortDescriptor(\.title)).including(\.binderID, from: binders)
        var next: QueryCursor?
        // A page that begins at a cursor reads the item there first, as it does without related items.
        for expected in [[StorageCall.Operation.scan], [.fetch, .scan]] {
            for engine in [recordedMemos, recordedBinders] { engine.clearCalls() }
            let page = try await memos.fetch(query, limit: 50, after: next)
            #expect(page.rows.count == 50)
            #expect(page.rows.allSatisfy { $0.related?.id == $0.object.binderID })
            #expect(reads(recordedMemos) == expected)
            #expect(reads(recordedBinders) == [.fetch])
            next = page.next
        }
        for engine in [recordedMemos, recordedBinders] { engine.clearCalls() }

        let all = try await binders.fetch(Query<Binder>().including(\Memo.binderID, of: memos), limit: 50)
        #expect(all.rows.count == 50)
        #expect(all.rows.allSatisfy { $0.related.count == 5 })
        #expect(reads(recordedBinders) == [.scan])
        #expect(reads(recordedMemos) == [.scan])
    }

    private func reads(_ engine: RecordingStorageEngine) -> [StorageCall.Operation] {
        let reads: Set<StorageCall.Operation> = [.fetch, .scan, .fetchStream]
        return engine.calls.map(\.operation).filter(reads.contains)
    }

    @Test("With an index, the items that refer to a page's objects are read, and few others")
    func narrows() async throws {
        let counting = CountingItems(of: try SQLiteStorageEngine(opening: folder.directory))
        let memos = ObjectStorage<Memo>(storage: counting)
        try await memos.createIndexes()
        let binders = ObjectStorage<Binder>(storage: MemoryStorageEngine())
        let ids = (0..<100).map { _ in UUID() }
        try await binders.store(ids.map { (CacheKey($0.uuidString), Binder($0, "b")) })
        try await memos.store((0..<2_000).map { (CacheKey("\($0)"), Memo($0, in: ids[$0 % 100])) })
        let query = Query<Binder>().including(\Memo.binderID, of: memos)
        _ = try await binders.fetch(query, limit: 1)
        _ = counting.take()
        let page = try await binders.fetch(query, limit: 10)
        #expect(page.rows.map(\.related.count) == Array(repeating: 20, count: 10))
        #expect(counting.take() == 200)
        // Upper and lower case are one UUID.
        let lower =
            #"{"id":5000,"title":"","binderID":"\#(ids[3].uuidString.lowercased())","stickerIDs":[],"author":""}"#
        try await memos.storage.write(Data(lower.utf8), key: CacheKey("5000"))
        #expect(try await binders.fetch(query, limit: 10).rows[3].related.map(\.id).last == 5000)
        #expect(counting.take() == 201)
    }

    @Test("A page never shows an object and a related item of different moments", arguments: [false, true])
    func moments(_ isCached: Bool) async throws {
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
        try await memos.store(Memo(1, "0", in: id), forKey: CacheKey("1"))
        try await binders.store(Binder(id, "0"), forKey: CacheKey(id.uuidString))
        let hasEnded = Locked(false)
        let writing = Task.detached {
            var number = 0
            while !hasEnded.withLock({ $0 }) {
                number += 1
                let name = "\(number)"
                try await other.transaction { transaction in
                    try transaction.store(Memo(1, name, in: id), forKey: CacheKey("1"), in: otherMemos)
                    try transaction.store(Binder(id, name), forKey: CacheKey(id.uuidString), in: otherBinders)
                }
            }
            return number
        }
        var seen: Set<String> = []
        for _ in 0..<300 {
            let row = try #require(
                try await memos.fetch(Query().including(\.binderID, from: binders), limit: 1).rows.first)
            #expect(row.object.title == row.related?.name)
            seen.insert(row.object.title)
            let back = try await binders.fetch(Query<Binder>().including(\Memo.binderID, of: memos)).rows.first
            #expect(back?.object.name == back?.related.first?.title)
        }
        hasEnded.withLock { $0 = true }
        #expect(try await writing.value > 1)
        #expect(seen.count > 1)
    }

    @Test("Undecodable related items are errors, or are omitted and listed")
    func undecodable() async throws {
        let storages = try await MemoEngines.memory.open(in: folder)
        let ids = MemoModel.binderIDs
        try await storages.memos.store([(CacheKey("1"), Memo(1, in: ids[0])), (CacheKey("2"), Memo(2, in: ids[1]))])
        try await storages.binders.store(Binder(ids[0], "a"), forKey: CacheKey(ids[0].uuidString))
        try await storages.binders.storage.write(Data("{}".utf8), key: CacheKey(ids[1].uuidString))
        let query = Query<Memo>().including(\.binderID, from: storages.binders)
        await #expect(throws: StorageError.self) { try await storages.memos.fetch(query) }
        // A page without a reference to it does not read it.
        #expect(try await storages.memos.fetch(query, limit: 1).rows.map(\.related?.name) == ["a"])
        let page = try await storages.memos.fetch(query, omittingUndecodable: true)
        #expect(page.rows.map(\.related?.name) == ["a", nil])
        #expect(page.undecodable.map(\.key) == [CacheKey(ids[1].uuidString)])

        try await storages.memos.storage.write(Data("[".utf8), key: CacheKey("3"))
        let backward = Query<Binder>().including(\Memo.binderID, of: storages.memos)
        await #expect(throws: StorageError.self) { try await storages.binders.fetch(backward, limit: 1) }
        let binders = try await storages.binders.fetch(backward, omittingUndecodable: true)
        #expect(binders.rows.map { $0.related.map(\.id) } == [[1]])
        #expect(Set(binders.undecodable.map(\.key)) == [CacheKey("3"), CacheKey(ids[1].uuidString)])
    }

    @Test("Identifiers of any type have the keys that the caller names")
    func ownKeys() async throws {
        struct Place: Codable, Hashable, Sendable { var row, column: Int }
        struct Seat: Codable, Sendable, Equatable { var place: Place }
        struct Guest: Codable, Sendable, Equatable {
            var name: String
            var seat: Place
            var reserve: Place?
            var wishes: [Place]
        }
        let engine = MemoryStorageEngine()
        let seats = ObjectStorage<Seat>(storage: engine.collection(named: "seats"))
        let guests = ObjectStorage<Guest>(storage: engine.collection(named: "guests"))
        let key: @Sendable (Place) -> CacheKey = { CacheKey(verbatim: "\($0.row)-\($0.column)") }
        let places = (0..<3).map { Place(row: $0, column: 1) }
        try await seats.store(places.map { (key($0), Seat(place: $0)) })
        let guest = Guest(
            name: "a", seat: places[0], reserve: nil, wishes: [places[2], Place(row: 9, column: 9), places[1]])
        try await guests.store(guest, forKey: CacheKey("a"))
        let seat = try await guests.fetch(Query().including(\.seat, from: seats, key: key)).rows[0]
        #expect(seat.related == Seat(place: places[0]))
        #expect(try await guests.fetch(Query().including(\.reserve, from: seats, key: key)).rows[0].related == nil)
        let wishes = try await guests.fetch(Query().including(\.wishes, from: seats, key: key)).rows[0]
        #expect(wishes.related.map(\.place) == [places[2], places[1]])
        let sitting = try await seats.fetch(Query().including(\Guest.seat, of: guests, key: key)).rows
        #expect(sitting.map(\.related) == [[guest], [], []])
        let wanted = try await seats.fetch(Query().including(\Guest.wishes, of: guests, key: key)).rows
        #expect(wanted.map(\.related) == [[], [guest], [guest]])
        let work = Query<Guest>().filter(
            \.seat, in: seats, matching: Query(where: #Predicate { $0.place.row == 0 }), key: key)
        #expect(try await guests.count(work) == 1)
    }
}
