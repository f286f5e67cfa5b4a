import Bodega
import BodegaSync
import Foundation
import TestSupport
import Testing

/// Many items that the remote database refuses.
@Suite struct RefusedItemsTests {
    @Test func `What is written while many items are refused does not wait for them`() async throws {
        let (local, server) = (MemoryStorageEngine(), MemoryStorageEngine())
        let remote = ScriptedRemote(server)
        remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.collection == "refused" }) {
                    throw StorageError(.tooLarge, "No.")
                }
            }
        }
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: remote)
        let (refused, good) = (
            try await sync.collection(named: "refused"), try await sync.collection(named: "good")
        )
        await sync.pause()
        let count = 150
        try await refused.write((0..<count).map { (CacheKey("\($0)"), Data("\($0)".utf8)) })
        await sync.resume()
        try await sync.wait { $0.parked > 0 }
        let before = remote.sent.count
        try await good.write(Data("1".utf8), key: CacheKey("1"))
        while try await server.collection(named: "good").fetchCount() == 0 { await Task.yield() }
        #expect(remote.sent.count - before <= 20)
        try await sync.settled()
        #expect(try await sync.parked().count == count)
        #expect(try await server.collection(named: "refused").fetchCount() == 0)
    }
}
