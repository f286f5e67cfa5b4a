import Bodega
import BodegaTesting
import Foundation
import Testing

/// Reads in parts, by a task that is cancelled between two parts.
@Suite struct CancelledReadTests {

    /// An engine that is read in parts, and cancels the task that calls it.
    private struct CancellingEngine: ForwardingStorageEngine {
        let base: any StorageBackend = MemoryStorageEngine()

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            let value = try await body()
            withUnsafeCurrentTask { $0?.cancel() }
            return value
        }
    }

    private let engine = CancellingEngine()
    private let keys = (0..<20).map { CacheKey(verbatim: "\($0)") }

    @Test func `Keys and counts of an expiring engine are whole, or the call throws`() async throws {
        let expiring = engine.expiring(after: .seconds(60), now: ManualClock().now)
        try await Task { try await expiring.write(keys.map { ($0, Data([1])) }) }.value
        let listed = Task { try await expiring.fetchKeys() }
        let counted = Task { try await expiring.fetchCount() }
        let among = Task { try await expiring.fetchKeys(among: keys) }
        for result in [await listed.result.map(\.count), await counted.result, await among.result.map(\.count)] {
            switch result {
            case .success(let count): #expect(count == 20)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }

    @Test func `A limited engine counts all items before it writes, or the write throws`() async throws {
        try await engine.base.write(keys.map { ($0, Data([1])) })
        let limited = engine.limited(count: 20)
        _ = await Task { try await limited.write(Data([2]), key: CacheKey(verbatim: "20")) }.result
        try await limited.write(Data([2]), key: CacheKey(verbatim: "21"))
        #expect(try await engine.base.fetchCount() <= 20)
        #expect(try await engine.base.fetch(key: CacheKey(verbatim: "21")) == Data([2]))
    }
}
