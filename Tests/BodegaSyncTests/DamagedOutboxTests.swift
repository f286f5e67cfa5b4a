import Bodega
import BodegaSync
import Foundation
import TestSupport
import Testing

/// Rows of the outbox that can't be decoded.
@Suite struct DamagedOutboxTests {
    private let server = MemoryStorageEngine()

    private func damage(_ keys: [String], of replica: Replica) async throws {
        let outbox = replica.local.collection(named: "emporium-outbox")
        for key in try await outbox.fetchKeys() where keys.contains(where: { key.rawValue.hasSuffix("/" + $0) }) {
            try await outbox.write(Data([0]), key: key)
        }
    }

    private func serverTexts() async throws -> [String: String] {
        let items = try await server.collection(named: "notes").fetchAll()
        return Dictionary(
            uniqueKeysWithValues: items.map { ($0.key.rawValue, String(decoding: $0.data, as: UTF8.self)) })
    }

    @Test func `A damaged row holds up no other, and its item is sent as it is`() async throws {
        let notes = server.collection(named: "notes")
        for key in ["changed", "removed", "\u{301}/%"] {
            try await notes.write(Data(#"{"a":1}"#.utf8), key: CacheKey(key))
        }
        let replica = try await Replica(of: server)
        try await replica.sync.settled()
        await replica.sync.pause()
        try await replica.write(#"{"a":2}"#, "changed")
        try await replica.write(#"{"a":2}"#, "\u{301}/%")
        try await replica.notes.remove(key: CacheKey("removed"))
        for number in 0..<5 { try await replica.write(#"{"n":\#(number)}"#, "new \(number)") }
        try await damage(["changed", "removed", "new 3", "\u{301}/%"], of: replica)
        #expect(try await replica.sync.pending().count == 8)
        #expect(try await replica.text("changed") == #"{"a":2}"#)

        await replica.sync.resume()
        try await replica.sync.settled()
        var expected = ["changed": #"{"a":2}"#, "\u{301}/%": #"{"a":2}"#, "removed": #"{"a":1}"#]
        for number in 0..<5 { expected["new \(number)"] = #"{"n":\#(number)}"# }
        #expect(try await serverTexts() == expected)
        for (key, text) in expected { #expect(try await replica.text(key) == text) }
        #expect(try await replica.sync.pending().isEmpty)
    }

    @Test func `The items of a damaged transaction are sent one by one`() async throws {
        let replica = try await Replica(of: server)
        try await replica.sync.settled()
        await replica.sync.pause()
        let writes = ["a", "b"].map { StorageOperation.write(key: CacheKey($0), data: Data(#"{"n":1}"#.utf8)) }
        var batch = StorageBatch(writes)
        batch.isTransaction = true
        _ = try await StorageBatchGroup.apply([(engine: replica.notes, batch: batch)])
        let transactions = replica.local.collection(named: "emporium-sync")
        let keys = try await transactions.fetchKeys().filter { $0.rawValue != "place" }
        #expect(keys.count == 1)
        for key in keys { try await transactions.write(Data([0]), key: key) }
        try await replica.write(#"{"n":2}"#, "b")
        await replica.sync.resume()
        try await replica.sync.settled()
        #expect(try await serverTexts() == ["a": #"{"n":1}"#, "b": #"{"n":2}"#])
    }

    @Test("Changes of a request that is not known any more are sent again", arguments: [false, true])
    func lostRequest(wasApplied: Bool) async throws {
        try await server.collection(named: "notes").write(Data(#"{"n":0}"#.utf8), key: CacheKey("removed"))
        let replica = try await Replica(of: server)
        try await replica.sync.settled()
        await replica.sync.pause()
        for key in ["a", "b"] { try await replica.write(#"{"n":1}"#, key) }
        try await replica.notes.remove(key: CacheKey("removed"))
        let (gate, pulls) = (SyncGate(), SyncGate())
        replica.remote.change { script in
            script.beforePulling = { await pulls.pass() }
            let lose: @Sendable (SyncBatch) async throws -> Void = { _ in
                await gate.pass()
                throw StorageError(.timedOut, "No answer.")
            }
            if wasApplied { script.afterApplying = lose } else { script.beforeApplying = lose }
        }
        await replica.sync.resume()
        await gate.arrival()
        try await replica.write(#"{"n":2}"#, "b")
        // What another program finds after a kill at this moment.
        let local = MemoryStorageEngine()
        for name in ["notes", "emporium-outbox", "emporium-sync"] {
            let items = try await replica.local.collection(named: name).fetchAll()
            try await local.collection(named: name).write(items.map { ($0.key, $0.data) })
        }
        let places = local.collection(named: "emporium-sync")
        let data = try #require(try await places.fetch(key: CacheKey(verbatim: "place")))
        var place = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect((place["requests"] as? [Any])?.isEmpty == false)
        place["requests"] = []
        try await places.write(
            try JSONSerialization.data(withJSONObject: place), key: CacheKey(verbatim: "place"))
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: ScriptedRemote(server))
        let notes = try await sync.collection(named: "notes")
        try await sync.settled()
        #expect(try await serverTexts() == ["a": #"{"n":1}"#, "b": #"{"n":2}"#])
        #expect(try await notes.fetchKeys().count == 2)
        #expect(try await sync.pending().isEmpty)
        gate.open()
        pulls.open()
    }

    /// Otherwise the item would be removed, although the remote database may have it.
    @Test func `A damaged change can't be given up, but overwritten`() async throws {
        let replica = try await Replica(of: server)
        try await replica.sync.settled()
        await replica.sync.pause()
        for key in ["a", "b"] { try await replica.write(#"{"n":1}"#, key) }
        try await damage(["a", "b"], of: replica)
        await #expect {
            try await replica.sync.discard(CacheKey("a"), in: "notes")
        } throws: { error in
            (error as? StorageError)?.code == .damaged
        }
        try await replica.write(#"{"n":2}"#, "b")
        await replica.sync.resume()
        try await replica.sync.settled()
        #expect(try await serverTexts() == ["a": #"{"n":1}"#, "b": #"{"n":2}"#])
    }
}
