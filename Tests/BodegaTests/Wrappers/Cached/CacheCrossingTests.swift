import Bodega
import Foundation
import TestSupport
import Testing

/// Writes that cross in an engine below a cache.
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
}
