import Bodega
import BodegaSync
import Foundation
import TestSupport
import Testing

/// A remote database that answers reads, and changes not.
@Suite struct UnansweredTests {
    private let server = MemoryStorageEngine()

    private func serverKeys() async throws -> Set<CacheKey> {
        Set(try await server.collection(named: "notes").fetchKeys())
    }

    /// Lets no batch with certain items be answered. The stream has the key of each item that was sent alone.
    private func silence(
        _ remote: ScriptedRemote, where isSilent: @escaping @Sendable (CacheKey) -> Bool = { _ in true }
    ) -> AsyncStream<CacheKey> {
        let (attempts, continuation) = AsyncStream<CacheKey>.makeStream()
        remote.change { script in
            script.beforeApplying = { batch in
                guard let silent = batch.changes.first(where: { isSilent($0.key) }) else { return }
                if batch.changes.count == 1 { continuation.yield(silent.key) }
                throw StorageError(.timedOut, "No answer.")
            }
        }
        return attempts
    }

    /// Waits until some items were sent alone so often that they would be parked if others were answered.
    private func wait(for count: Int, in attempts: AsyncStream<CacheKey>) async {
        var counts: [CacheKey: Int] = [:]
        for await key in attempts {
            counts[key, default: 0] += 1
            if counts.values.count(where: { $0 >= 10 }) == count { return }
        }
    }

    @Test(arguments: [1, 10])
    func `Changes that are not answered while no others are wait, and are sent when the fault has ended`(
        count: Int
    ) async throws {
        let replica = try await Replica(of: server, maximumDelay: .milliseconds(5))
        try await replica.sync.settled()
        let attempts = silence(replica.remote)
        for number in 1...count { try await replica.write(#"{"a":1}"#, "\(number)") }
        await wait(for: count, in: attempts)
        #expect(replica.sync.status.parked == 0)
        #expect(try await replica.sync.pending().count == count)
        try await replica.wait { $0.failure?.code == "timedOut" }
        replica.remote.change { $0.beforeApplying = { _ in } }
        try await replica.sync.settled()
        #expect(try await serverKeys() == Set((1...count).map { CacheKey("\($0)") }))
        #expect(replica.sync.status.parked == 0)
    }

    @Test func `One that is not answered while others are is parked, though it was alone for long`() async throws {
        let replica = try await Replica(of: server, maximumDelay: .milliseconds(5))
        try await replica.sync.settled()
        let poison = CacheKey("poison")
        let attempts = silence(replica.remote) { $0 == poison }
        try await replica.write(#"{"a":1}"#, "poison")
        await wait(for: 1, in: attempts)
        #expect(replica.sync.status.parked == 0)
        // Others are not held up, and show what is wrong.
        for number in 1... {
            try await replica.write(#"{"a":1}"#, "\(number)")
            try await replica.wait { _ in try await serverKeys().contains(CacheKey("\(number)")) }
            if try await !replica.sync.parked().isEmpty { break }
        }
        #expect(try await replica.sync.parked().map(\.key) == [poison])
        try await replica.sync.settled()
    }
}
