import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

/// What windows that are released read, counted in items.
@MainActor
@Suite("A window that is released while it reads", .timeLimit(.minutes(5)))
struct ReleasedWindowTests {

    private static let size = 6_000

    private func pictures(_ isOnDisk: Bool, _ folder: TemporaryFolder, _ count: Locked<Int>) async throws
        -> ObjectStorage<Picture>
    {
        let storage: ObjectStorage<Picture>
        if isOnDisk {
            let engine = try SQLiteStorageEngine(openingFile: folder.file("pictures"), durability: .relaxed)
            storage = ObjectStorage(storage: CountingItems(base: engine, count: count))
        } else {
            storage = ObjectStorage(storage: CountingItems(base: MemoryStorageEngine(), count: count))
        }
        try await storage.store(
            (0..<Self.size).map { (CacheKey("\($0)"), Picture(title: "Sea of \($0)", year: 1900 + $0 % 100)) })
        return storage
    }

    @Test(
        "stops after some hundred items: nine keystrokes of a search read about as much as one",
        arguments: [false, true])
    func search(isOnDisk: Bool) async throws {
        let folder = TemporaryFolder()
        let count = Locked(0)
        let gallery = Gallery(try await pictures(isOnDisk, folder, count))
        try await gallery.window.itemsHaveLoaded()
        #expect(count.withLock { $0 } >= Self.size)
        count.withLock { $0 = 0 }
        let text = "Sea of 59"
        for length in 1...text.count {
            let before = count.withLock { $0 }
            gallery.search(String(text.prefix(length)))
            // The search has begun to read.
            if length < text.count { while count.withLock({ $0 == before }) { await Task.yield() } }
        }
        try await gallery.window.itemsHaveLoaded()
        let expected = (0..<Self.size).map { "Sea of \($0)" }.filter { $0.hasPrefix(text) }.sorted().prefix(50)
        #expect(gallery.window.items.map(\.title) == Array(expected))
        #expect(count.withLock { $0 } < Self.size * 2)
    }
}
