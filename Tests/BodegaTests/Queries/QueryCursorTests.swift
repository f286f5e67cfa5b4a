import BodegaTesting
import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite("A cursor of a query", .timeLimit(.minutes(10)))
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
