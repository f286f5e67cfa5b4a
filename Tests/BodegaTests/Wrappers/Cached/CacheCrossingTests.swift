import Bodega
import Foundation
import TestSupport
import Testing

/// What a cache must not keep: writes that cross below it, and what follows from a removal.
@Suite struct CacheCrossingTests {

    /// An engine whose removal of all items waits before it is applied, and whose other writes wait afterwards.
    private struct Crossing: ForwardingStorageEngine {
        /// A moment that is reached once.
        struct Moment: Sendable {
            private let stream = AsyncStream<Void>.makeStream()

            func reach() { stream.continuation.yield() }
            func wait() async { for await _ in stream.stream { break } }
        }

        let base: any StorageBackend
        let removalBegins = Moment()
        let removalGoesOn = Moment()
        let writeEnds = Moment()
        let writeGoesOn = Moment()

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            guard case .apply(let batch) = call else { return try await body() }
            if batch.operations == [.removeAll] {
                removalBegins.reach()
                await removalGoesOn.wait()
                return try await body()
            }
            let answer = try await body()
            writeEnds.reach()
            await writeGoesOn.wait()
            return answer
        }
    }

    @Test func `A write that begins and ends around the removal of all items is not kept`() async throws {
        let (memory, key) = (MemoryStorageEngine(), CacheKey("a"))
        let crossing = Crossing(base: WithoutLog(memory))
        let engine = crossing.cached()
        async let removal: Void = engine.removeAllData()
        await crossing.removalBegins.wait()
        async let write: Void = engine.write(Data("1".utf8), key: key)
        await crossing.writeEnds.wait()
        crossing.removalGoesOn.reach()
        try await removal
        crossing.writeGoesOn.reach()
        try await write
        #expect(try await memory.fetch(key: key) == nil)
        #expect(try await engine.fetch(key: key) == nil)
    }

    private struct Branch: Queryable, Identifiable {
        var id: String
        var parent: String?
        var names: [String] = []

        static let references = [
            Reference("parent", \Branch.parent, to: Branch.self, in: "b", onRemoval: .remove),
            Reference("names", \Branch.names, to: Branch.self, in: "b", onRemoval: .clear),
        ]
    }

    @Test(arguments: [false, true])
    func `What follows from a removal is gone from the cache, too`(inFile: Bool) async throws {
        let folder = TemporaryFolder()
        let (memory, file) = (MemoryStorageEngine(), try SQLiteStorageEngine(openingFile: folder.file("a")))
        let base: any StorageEngine = inFile ? try file.collection(named: "b") : memory.collection(named: "b")
        let cached = base.cached()
        let branches = ObjectStorage<Branch>(storage: cached)
        let (parent, child, other) = (CacheKey("p"), CacheKey("c"), CacheKey("d"))
        for _ in 0..<10 {
            try await branches.store(Branch(id: "p"), forKey: parent)
            try await branches.store(Branch(id: "c", parent: "p"), forKey: child)
            try await branches.store(Branch(id: "d", names: ["p", "q"]), forKey: other)
            // It keeps items from when it follows the changes of others.
            while cached.statistics.count < 2 {
                for key in [child, other] { _ = try await branches.fetchObject(forKey: key) }
                await Task.yield()
            }
            try await branches.removeObject(forKey: parent)
            #expect(try await branches.fetchObject(forKey: child) == nil)
            #expect(try await branches.fetchObject(forKey: other)?.names == ["q"])
        }
    }
}
