import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import Testing

@Suite struct StorageSyncTests {

    private struct Note: Codable, Sendable, Hashable, Identifiable {
        let id: String
        var title: String
        var isDone = false
    }

    private static func replica(
        _ local: MemoryStorageEngine = MemoryStorageEngine(), of server: MemoryStorageEngine
    ) async throws -> StorageSync {
        try await StorageSync(local: { local.collection(named: $0) }, remote: { server.collection(named: $0) })
    }

    @Test func twoReplicasOfAServerHaveTheSameItems() async throws {
        let server = MemoryStorageEngine()
        let (ada, bob) = (try await Self.replica(of: server), try await Self.replica(of: server))
        let notes = try await ada.collection(named: "notes").objects(Note.self)
        let others = try await bob.collection(named: "notes").objects(Note.self)
        try await notes.store(Note(id: "1", title: "milk"), forKey: CacheKey("1"))
        try await ada.settled()
        try await bob.settled()
        #expect(try await others.fetchObject(forKey: CacheKey("1"))?.title == "milk")
        try await others.store(Note(id: "1", title: "oat milk"), forKey: CacheKey("1"))
        try await others.store(Note(id: "2", title: "bread"), forKey: CacheKey("2"))
        try await bob.settled()
        try await ada.settled()
        let titles = try await notes.fetchAllObjects().objects.map(\.title).sorted()
        #expect(titles == ["bread", "oat milk"])
        try await notes.removeObject(forKey: CacheKey("1"))
        try await ada.settled()
        try await bob.settled()
        let left = try await others.fetchAllObjects().objects.map(\.title)
        #expect(left == ["bread"])
        #expect(ada.status.pending == 0 && bob.status.isSettled)
    }

    @Test func aPullDoesNotRemoveWhatACollectionHadBeforeItIsInTheOutbox() async throws {
        let (local, server) = (MemoryStorageEngine(), MemoryStorageEngine())
        let tags = [1, 2, 3].map { (CacheKey("\($0)"), Data("\($0)".utf8)) }
        try await local.collection(named: "tags").write(tags)
        let gate = StorageGate()
        let slow = FaultInjectingStorageEngine(
            local.collection(named: "tags"), faults: [.hold(.reads, .number(1), at: gate)])
        let sync = try await StorageSync(
            local: { $0 == "tags" ? slow as any StorageEngine : local.collection(named: $0) },
            remote: { server.collection(named: $0) })
        _ = try await sync.collection(named: "notes")
        async let opened = sync.collection(named: "tags")
        await gate.waitForArrivals(1)
        try await sync.settled()
        gate.release()
        _ = try await opened
        try await sync.settled()
        for engine in [local, server] {
            let keys = try await engine.collection(named: "tags").fetchKeys().map(\.rawValue).sorted()
            #expect(keys == ["1", "2", "3"])
        }
    }
}

extension StorageEngine {
    fileprivate func objects<Object: Codable>(_ type: Object.Type) -> ObjectStorage<Object> {
        ObjectStorage(storage: self)
    }
}
