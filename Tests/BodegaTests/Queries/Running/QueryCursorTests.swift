import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite("A cursor of a query")
struct QueryCursorTests {

    private struct Item: Codable, Equatable { var number: Int }

    private func engines(_ folder: TemporaryFolder) throws -> [any StorageEngine] {
        [
            MemoryStorageEngine(), try SQLiteStorageEngine(opening: folder.directory),
            DiskStorageEngine(directory: FileManager.Directory(url: folder.file("disk"))),
        ]
    }

    @Test("finds its item among keys that look alike")
    func similarKeys() async throws {
        let folder = TemporaryFolder()
        let url = try #require(URL(string: "https://example.com/a"))
        let keys = [
            CacheKey("\u{E9}"), CacheKey("e\u{301}"), CacheKey(verbatim: "\u{E9}"), CacheKey(verbatim: "e\u{301}"),
            CacheKey(url: url),
            CacheKey(CacheKey(url: url).identity), CacheKey(verbatim: url.absoluteString), CacheKey(""),
            CacheKey("\u{212A}"), CacheKey("K"),
        ]
        for engine in try engines(folder) {
            let storage = ObjectStorage<Item>(storage: engine)
            for (number, key) in keys.enumerated() { try await storage.store(Item(number: number % 2), forKey: key) }
            for query in [Query<Item>(), Query<Item>(sortedBy: SortDescriptor(\.number, order: .reverse))] {
                var found: [CacheKey] = []
                var cursor: QueryCursor?
                repeat {
                    let page = try await storage.fetch(
                        query, limit: 1, after: cursor.map { QueryCursor(rawValue: $0.rawValue) })
                    found += page.objectsAndKeys.map(\.key)
                    cursor = page.next
                } while cursor != nil && found.count < 20
                #expect(found == (try await storage.fetch(query).objectsAndKeys.map(\.key)))
                #expect(Set(found) == Set(keys))
            }
        }
    }

    @Test("stays valid when its item changes or disappears, where the engine has lasting positions")
    func changes() async throws {
        let folder = TemporaryFolder()
        for engine in try engines(folder).prefix(2) {
            let storage = ObjectStorage<Item>(storage: engine)
            for number in 0..<10 { try await storage.store(Item(number: number / 3), forKey: CacheKey("\(number)")) }
            let query = Query<Item>(sortedBy: SortDescriptor(\.number))
            let page = try await storage.fetch(query, limit: 4)
            #expect(page.objectsAndKeys.map(\.key.rawValue) == ["0", "1", "2", "3"])
            try await storage.removeObject(forKey: CacheKey("3"))
            try await storage.removeObject(forKey: CacheKey("0"))
            let next = try await storage.fetch(query, limit: 3, after: page.next)
            #expect(next.objectsAndKeys.map(\.key.rawValue) == ["4", "5", "6"])
        }
    }

    /// The numbers of the items that a page shows after the last ones were removed and others were added.
    private func numbers(
        after count: Int, removing: ClosedRange<Int>, adding: ClosedRange<Int>, _ query: Query<Item>,
        in storage: ObjectStorage<Item>
    ) async throws -> [Int] {
        let page = try await storage.fetch(query, limit: count)
        for number in removing { try await storage.removeObject(forKey: CacheKey("\(number)")) }
        for number in adding { try await storage.store(Item(number: number), forKey: CacheKey("\(number)")) }
        return try await storage.fetch(query, after: page.next).objects.map(\.number)
    }

    @Test("whose item was removed finds the items that were added since, although they have its row number")
    func reusedRows() async throws {
        let folder = TemporaryFolder()
        for (number, query) in [Query<Item>(), Query<Item>(sortedBy: SortDescriptor(\.number.zero))].enumerated() {
            for engine in [
                MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("\(number)")),
            ] as [any StorageEngine] {
                let storage = ObjectStorage<Item>(storage: engine)
                for number in 1...6 { try await storage.store(Item(number: number), forKey: CacheKey("\(number)")) }
                let some = try await numbers(after: 5, removing: 5...6, adding: 7...9, query, in: storage)
                #expect(some == [7, 8, 9], "\(engine)")
                // The item at the cursor has its own row number again.
                let same = try await numbers(after: 6, removing: 9...9, adding: 10...10, query, in: storage)
                #expect(same == [10], "\(engine)")
            }
        }
    }

    @Test("of another query, or an invalid one, is an error with a code", arguments: ["", "x", "e30=", "bm90aGluZw=="])
    func invalid(_ text: String) async throws {
        let storage = ObjectStorage<Item>(storage: MemoryStorageEngine())
        await #expect(throws: StorageError.self) {
            _ = try await storage.fetch(Query(), after: QueryCursor(rawValue: text))
        }
        for number in 0..<3 { try await storage.store(Item(number: number), forKey: CacheKey("\(number)")) }
        let page = try await storage.fetch(Query(sortedBy: SortDescriptor(\.number)), limit: 1)
        let cursor = try #require(page.next)
        do {
            _ = try await storage.fetch(Query(), after: cursor)
            Issue.record("A cursor of another query was accepted.")
        } catch let error as StorageError {
            #expect(error.code == .invalidArgument)
        }
    }

    private struct Sortable: Codable {
        var text: String
        var number = 0
    }

    @Test("at an item whose long text was changed is an error, because its place is not known")
    func changedText() async throws {
        let folder = TemporaryFolder()
        let pad = String(repeating: "x", count: 1_200)
        let query = Query<Sortable>(sortedBy: SortDescriptor(\.text))
        for engine in try engines(folder) {
            let storage = ObjectStorage<Sortable>(storage: engine)
            for name in ["a", "b", "c", "d"] {
                try await storage.store(Sortable(text: name + pad), forKey: CacheKey(verbatim: name))
            }
            let page = try await storage.fetch(query, limit: 2)
            #expect(page.objectsAndKeys.map(\.key.value) == ["a", "b"])
            let next = try await storage.fetch(query, limit: 2, after: page.next)
            #expect(next.objectsAndKeys.map(\.key.value) == ["c", "d"])
            for text in ["z", "z" + pad] {
                try await storage.store(Sortable(text: text), forKey: CacheKey(verbatim: "b"))
                let error = await #expect(throws: StorageError.self) {
                    try await storage.fetch(query, limit: 2, after: page.next)
                }
                #expect(error?.code == .invalidArgument && error?.key == CacheKey(verbatim: "b"))
            }
        }
    }

    @Test("of an order by values of other types is an error, also if the number of terms is the same")
    func otherTypes() async throws {
        let storage = ObjectStorage<Sortable>(storage: MemoryStorageEngine())
        for number in 0..<5 {
            try await storage.store(Sortable(text: "\(number)", number: number), forKey: CacheKey("\(number)"))
        }
        let orders: [[SortDescriptor<Sortable>]] = [
            [SortDescriptor(\.text)], [SortDescriptor(\.number)],
            [SortDescriptor(\.text), SortDescriptor(\.number)], [SortDescriptor(\.number), SortDescriptor(\.text)],
        ]
        for (index, order) in orders.enumerated() {
            let next = try await storage.fetch(Query(sortedBy: order), limit: 2).next
            for (other, query) in orders.enumerated() {
                guard other != index else {
                    #expect(try await storage.fetch(Query(sortedBy: query), after: next).objects.count == 3)
                    continue
                }
                let error = await #expect(throws: StorageError.self, "\(index), \(other)") {
                    try await storage.fetch(Query(sortedBy: query), after: next)
                }
                #expect(error?.code == .invalidArgument)
            }
        }
    }

    @Test("of a page without objects begins where the page did")
    func emptyPage() async throws {
        let storage = ObjectStorage<Item>(storage: MemoryStorageEngine())
        for number in 0..<3 { try await storage.store(Item(number: number), forKey: CacheKey("\(number)")) }
        let page = try await storage.fetch(Query(), limit: 1)
        let empty = try await storage.fetch(Query(), limit: 0, after: page.next)
        #expect(empty.objects.isEmpty && empty.next == page.next)
        let all = try await storage.fetch(Query(), limit: -1)
        #expect(all.objects.isEmpty)
    }
}

extension Int {
    /// A property with which all items are equal.
    fileprivate var zero: Int { 0 }
}
