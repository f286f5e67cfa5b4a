import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// What windows that are released read, counted in items.
@MainActor
@Suite("A window that is released while it reads")
struct ReleasedWindowTests {
    private static let size = 6_000

    private func pictures(_ isOnDisk: Bool, _ folder: TemporaryFolder) async throws -> CountingItems {
        let engine: any StorageBackend =
            isOnDisk
            ? try SQLiteStorageEngine(openingFile: folder.file("pictures"), durability: .relaxed)
            : MemoryStorageEngine()
        try await ObjectStorage<Picture>(storage: engine).store(
            (0..<Self.size).map { (CacheKey("\($0)"), Picture(title: "Sea of \($0)", year: 1900 + $0 % 100)) })
        return CountingItems(of: engine)
    }

    @Test(
        "stops after some hundred items: nine keystrokes of a search read about as much as one",
        arguments: [false, true])
    func search(isOnDisk: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = try await pictures(isOnDisk, folder)
        let gallery = ReplacingGallery(ObjectStorage(storage: engine))
        try await gallery.window.itemsHaveLoaded()
        // Not all, if an index was ready before the first read.
        #expect(engine.count >= 50)
        _ = engine.take()
        let text = "Sea of 59"
        for length in 1...text.count {
            let before = engine.count
            gallery.search(String(text.prefix(length)))
            // The search has begun to read.
            if length < text.count { while engine.count == before { await Task.yield() } }
        }
        try await gallery.window.itemsHaveLoaded()
        let expected = (0..<Self.size).map { "Sea of \($0)" }.filter { $0.hasPrefix(text) }.sorted().prefix(50)
        #expect(gallery.window.items.map(\.title) == Array(expected))
        #expect(engine.count < Self.size * 2)
    }

    @Test(
        "and so does a query that is changed in place, as in the guide",
        arguments: [false, true])
    func change(isOnDisk: Bool) async throws {
        let folder = TemporaryFolder()
        let engine = try await pictures(isOnDisk, folder)
        let gallery = Gallery(ObjectStorage(storage: engine))
        try await gallery.window.itemsHaveLoaded()
        _ = engine.take()
        let text = "Sea of 59"
        var searches: [Task<Void, any Error>] = []
        for length in 1...text.count {
            let before = engine.count
            searches.append(Task { try await gallery.search(String(text.prefix(length))) })
            // The search has begun to read.
            while engine.count == before { await Task.yield() }
        }
        for search in searches { try await search.value }
        let expected = (0..<Self.size).map { "Sea of \($0)" }.filter { $0.hasPrefix(text) }.sorted().prefix(50)
        #expect(gallery.window.items.map(\.title) == Array(expected))
        #expect(engine.count < Self.size * 2)
    }
}

/// Shows each search in a window of its own.
@MainActor
private final class ReplacingGallery {
    private let pictures: ObjectStorage<Picture>
    private(set) var window: LiveQuery<Picture>

    init(_ pictures: ObjectStorage<Picture>) {
        self.pictures = pictures
        window = LiveQuery(Query(sortedBy: SortDescriptor(\.year, order: .reverse)), in: pictures, limit: 50)
    }

    func search(_ text: String) {
        let matches = Query<Picture>(
            where: #Predicate { $0.title.starts(with: text) }, sortedBy: SortDescriptor(\.title))
        window = LiveQuery(matches, in: pictures, limit: 50)
    }
}
