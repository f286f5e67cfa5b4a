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

    /// The numbers of the items in a batch that are changed alone, and how often each was.
    private func attempts(_ batches: [SyncBatch]) -> [CacheKey: Int] {
        let alone = batches.filter { $0.changes.count == 1 }.map { $0.changes[0].key }
        return Dictionary(alone.map { ($0, 1) }, uniquingKeysWith: +)
    }

    @Test(arguments: [1, 10])
    func `Changes that are not answered while no others are wait, and are sent when the fault has ended`(
        count: Int
    ) async throws {
        let replica = try await Replica(of: server, maximumDelay: .milliseconds(5))
        try await replica.sync.settled()
        replica.remote.change { $0.beforeApplying = { _ in throw StorageError(.timedOut, "No answer.") } }
        for number in 1...count { try await replica.write(#"{"a":1}"#, "\(number)") }
        // Each is alone so often that it would be parked if others were answered.
        while attempts(replica.remote.sent).count { $0.value >= 8 } < count { await Task.yield() }
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
        replica.remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.key == poison }) { throw StorageError(.timedOut, "No answer.") }
            }
        }
        try await replica.write(#"{"a":1}"#, "poison")
        while attempts(replica.remote.sent)[poison] ?? 0 < 10 { await Task.yield() }
        #expect(replica.sync.status.parked == 0)
        // Others are not held up, and show what is wrong.
        for number in 1... {
            try await replica.write(#"{"a":1}"#, "\(number)")
            while try await !serverKeys().contains(CacheKey("\(number)")) { await Task.yield() }
            if try await !replica.sync.parked().isEmpty { break }
        }
        #expect(try await replica.sync.parked().map(\.key) == [poison])
        try await replica.sync.settled()
    }
}
