import Bodega
@testable import BodegaSync
import Foundation
import TestSupport
import Testing

/// Transactions of which a part can't be sent.
@Suite struct WaitingTransactionTests {
    private static func key(_ text: String) -> CacheKey { CacheKey(verbatim: text) }

    @Test func `A transaction over a collection that is not open waits for it, and holds up no other`() async throws {
        let (shelf, local) = (Shelf(), MemoryStorageEngine())
        do {
            let sync = try await shelf.replica(local)
            await sync.pause()
            let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
            let batch = StorageBatch([.write(key: Self.key("x"), data: Data("1".utf8))])
            _ = try await StorageBatchGroup.apply([(engine: a, batch: batch), (engine: b, batch: batch)])
        }
        let sync = try await shelf.replica(local)
        let a = try await sync.collection(named: "a")
        try await a.write(Data("2".utf8), key: Self.key("y"))
        let remote = shelf.server.collection(named: "a")
        try await sync.wait { _ in try await remote.fetchCount() == 1 }
        let b = try await sync.collection(named: "b")
        try await sync.settled()
        #expect(try await remote.fetchCount() == 2)
        #expect(try await shelf.server.collection(named: "b").fetch(key: Self.key("x")) == Data("1".utf8))
        _ = b
    }

    @Test func `More transactions that wait than fit into a request hold up no other`() async throws {
        let (shelf, local) = (Shelf(), MemoryStorageEngine())
        do {
            let sync = try await shelf.replica(local)
            await sync.pause()
            let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
            for number in 0..<1_100 {
                let batch = StorageBatch([.write(key: Self.key("\(number)"), data: Data("1".utf8))])
                _ = try await StorageBatchGroup.apply([(engine: a, batch: batch), (engine: b, batch: batch)])
            }
        }
        let sync = try await shelf.replica(local)
        let a = try await sync.collection(named: "a")
        try await a.write(Data("2".utf8), key: Self.key("y"))
        let remote = shelf.server.collection(named: "a")
        try await sync.wait { _ in try await remote.fetchKeys() == [Self.key("y")] }
        let b = try await sync.collection(named: "b")
        try await sync.settled()
        #expect(try await remote.fetchCount() == 1_101)
        #expect(try await shelf.server.collection(named: "b").fetchCount() == 1_100)
        _ = b
    }

    @Test func `A transaction that was refused, and waits for a collection, holds up no other`() async throws {
        let (shelf, local) = (Shelf(), MemoryStorageEngine())
        func transfer(_ name: String, _ sync: StorageSync) async throws {
            let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
            let batch = StorageBatch([.write(key: Self.key(name), data: Data("1".utf8))])
            _ = try await StorageBatchGroup.apply([(engine: a, batch: batch), (engine: b, batch: batch)])
        }
        do {
            let remote = EngineSyncRemote { name in
                let engine = try shelf.engine(name)
                return name == "b" ? engine.scoped(to: try StorageScope(matching: "@ == 2")) : engine
            }
            let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: remote)
            for number in 0..<4 { try await transfer("t\(number)", sync) }
            try await sync.settled()
            #expect(sync.status.parked == 8)
            await sync.pause()
            for number in 0..<4 { try await sync.retry(Self.key("t\(number)"), in: "a") }
        }
        shelf.close(["b"])
        let sync = try await shelf.replica(local)
        for number in 0..<4 { try await transfer("u\(number)", sync) }
        let a = try await sync.collection(named: "a")
        for number in 0..<20 { try await a.write(Data("2".utf8), key: Self.key("\(number)")) }
        let remote = shelf.server.collection(named: "a")
        try await sync.wait { _ in try await remote.fetchCount() == 20 }
        shelf.close([])
        try await sync.wait { $0.isSettled }
        #expect(sync.status.pending == 0)
        #expect(try await remote.fetchCount() == 28)
        #expect(try await shelf.server.collection(named: "b").fetchCount() == 8)
    }
}
