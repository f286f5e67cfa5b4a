import Bodega
@testable import BodegaSync
import Foundation
import TestSupport
import Testing

/// What a device has sent is not read again.
@Suite struct OwnItemsTests {
    /// Counts the items of changes.
    private struct CountingEngine: ForwardingStorageEngine {
        let base: any StorageBackend
        let count = Locked(0)

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> { try await body() }

        var log: (any StorageLog)? { base.log.map { Log(base: $0, count: count) } }
    }

    private struct Log: StorageLog {
        let base: any StorageLog
        let count: Locked<Int>

        func fetchCursor() async throws -> StorageCursor { try await base.fetchCursor() }

        func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
            let answer = try await base.fetchChanges(request)
            count.withLock { $0 += answer.value?.items.count ?? 0 }
            return answer
        }

        func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
            base.changeSignals(excluding: origin)
        }
    }

    private actor News {
        private(set) var items: [CacheKey: Data?] = [:]
        private(set) var batches: Set<UUID> = []
        private(set) var cursor: StorageCursor?

        func receive(_ news: SyncNews) {
            switch news {
            case .items(let news, _, let batches):
                for (key, data) in news { items[key] = .some(data) }
                self.batches.formUnion(batches)
            case .end(_, let cursor): self.cursor = cursor
            case .begin, .unreadable, .missing: break
            }
        }

        func take() -> [CacheKey: Data?] {
            defer { items = [:] }
            return items
        }
    }

    private let keys = (0..<3).map { CacheKey(verbatim: "\($0)") }

    private func batch(_ numbers: [Int], base: String? = nil, to text: String?) -> SyncBatch {
        SyncBatch(
            id: StorageOrigin().shared.id,
            changes: numbers.map {
                SyncBatch.Change(
                    collection: "a", key: keys[$0], base: base.map { Data($0.utf8) }, data: text.map { Data($0.utf8) })
            })
    }

    @Test("A pull passes on what own batches have written, and reads only what others have", arguments: [false, true])
    func own(isInMemory: Bool) async throws {
        let folder = TemporaryFolder()
        let base: any StorageBackend =
            isInMemory
            ? MemoryStorageEngine() : try SQLiteStorageEngine(openingFile: folder.file("a"), durability: .relaxed)
        let engine = CountingEngine(base: base)
        let (remote, news) = (EngineSyncRemote { _ in engine }, News())
        func pull() async throws -> (items: [CacheKey: Data?], read: Int) {
            engine.count.withLock { $0 = 0 }
            try await remote.pull(["a": await news.cursor], needing: [:]) { await news.receive($0) }
            return (await news.take(), engine.count.withLock { $0 })
        }
        _ = try await pull()
        let first = batch([0, 1], to: "own")
        #expect(try await remote.apply(first))
        var (items, read) = try await pull()
        #expect(items == [keys[0]: Data("own".utf8), keys[1]: Data("own".utf8)] && read == 0)
        #expect(await news.batches == [first.id])

        // Another device changes an item after two batches, and one before.
        try await base.write(Data("before".utf8), key: keys[2])
        #expect(try await remote.apply(batch([0, 1], base: "own", to: "second")))
        #expect(try await remote.apply(batch([0, 2], base: nil, to: "refused")) == false)
        #expect(try await remote.apply(batch([0], base: "second", to: "third")))
        try await base.write(Data("after".utf8), key: keys[1])
        (items, read) = try await pull()
        #expect(
            items == [keys[0]: Data("third".utf8), keys[1]: Data("after".utf8), keys[2]: Data("before".utf8)]
                && read == 2)

        // What follows from a removal is read, and a batch is not known any more after a pull.
        #expect(try await remote.apply(batch([1], base: "after", to: nil)))
        (items, read) = try await pull()
        #expect(items == [keys[1]: nil] && read == 0)
        await news.receive(.end(collection: "a", cursor: try await base.log?.fetchCursor()))
        let last = batch([0], base: "third", to: "fourth")
        #expect(try await remote.apply(last))
        let start = await news.cursor
        (items, read) = try await pull()
        #expect(read == 0)
        await news.receive(.end(collection: "a", cursor: start))
        (items, read) = try await pull()
        #expect(items == [keys[0]: Data("fourth".utf8)] && read == 1)
    }
}
