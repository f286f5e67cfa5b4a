import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Programs that share a file and open different collections of it.
@Suite struct FewCollectionsTests {
    private let workspace: StorageEngineConformance.Workspace
    private let server = MemoryStorageEngine()
    private let folder = CacheKey(verbatim: "f")
    private let note = CacheKey(verbatim: "n")

    init() throws { workspace = try StorageEngineConformance.Workspace() }

    private func sync(_ remote: any SyncRemote, startsPaused: Bool = false) async throws -> StorageSync {
        let file = try SQLiteStorageEngine(opening: workspace.directory)
        var options = SyncOptions()
        options.startsPaused = startsPaused
        return try await StorageSync(
            local: { try file.collection(named: $0) }, remote: remote, options: options, clock: InstantClock())
    }

    private func onServer(_ collection: String, _ key: CacheKey) async throws -> String? {
        try await server.collection(named: collection).fetch(key: key).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A program that opens both collections, changes an item in each, takes both for one request, and does nothing
    /// more. Its request arrives, or not.
    private func stopAfterTaking(arrives: Bool) async throws -> StorageSync {
        let remote = ScriptedRemote(server)
        let sync = try await sync(remote, startsPaused: true)
        let (folders, notes) = (
            try await sync.collection(named: "folders"), try await sync.collection(named: "notes")
        )
        let (attempts, attempt) = AsyncStream.makeStream(of: Void.self)
        let fail: @Sendable (SyncBatch) async throws -> Void = { [sync] _ in
            // It does not find out that its request has arrived.
            await sync.pause()
            attempt.yield()
            throw StorageError(.unreachable, "There is no network.")
        }
        remote.change { if arrives { $0.afterApplying = fail } else { $0.beforeApplying = fail } }
        try await folders.write(Data(#"{"name":"Work"}"#.utf8), key: folder)
        try await notes.write(Data(#"{"text":"Tea"}"#.utf8), key: note)
        await sync.resume()
        for await _ in attempts { break }
        #expect(remote.sent.count == 1 && remote.sent.first?.changes.count == 2)
        return sync
    }

    @Test(arguments: [true, false])
    func `A request is sent by a program that has opened a part of its collections`(arrives: Bool) async throws {
        let first = try await stopAfterTaking(arrives: arrives)
        let remote = ScriptedRemote(server)
        let second = try await sync(remote)
        let folders = try await second.collection(named: "folders")
        try await folders.write(Data(#"{"name":"Job"}"#.utf8), key: folder)
        try await second.settled()
        #expect(try await onServer("folders", folder) == #"{"name":"Job"}"#)
        #expect(try await onServer("notes", note) == #"{"text":"Tea"}"#)
        #expect(try await second.pending().isEmpty)
        // Another device changes the note before a program opens its collection.
        try await server.collection(named: "notes").write(Data(#"{"text":"Milk"}"#.utf8), key: note)
        let third = try await sync(ScriptedRemote(server))
        let notes = try await third.collection(named: "notes")
        #expect(try await notes.fetch(key: note) == Data(#"{"text":"Tea"}"#.utf8))
        try await third.settled()
        #expect(try await notes.fetch(key: note) == Data(#"{"text":"Milk"}"#.utf8))
        await first.resume()
        try await first.settled()
        #expect(try await onServer("notes", note) == #"{"text":"Milk"}"#)
        #expect(try await first.conflicts().isEmpty)
        #expect(try await first.pending().isEmpty)
    }

    /// The server refuses what the second program may not send. It is divided, and not parked.
    @Test func `A part of a request that a program may not send waits for one that may`() async throws {
        let first = try await stopAfterTaking(arrives: false)
        let remote = ScriptedRemote(server)
        remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.collection == "notes" }) {
                    throw StorageError(.permissionDenied, "The token does not allow it.")
                }
            }
        }
        let second = try await sync(remote)
        _ = try await second.collection(named: "folders")
        try await second.settled()
        #expect(try await onServer("folders", folder) == #"{"name":"Work"}"#)
        #expect(try await onServer("notes", note) == nil)
        let pending = try await second.pending()
        #expect(pending.map(\.collection) == ["notes"] && pending.allSatisfy { $0.failure == nil })
        let third = try await sync(ScriptedRemote(server))
        _ = try await third.collection(named: "notes")
        try await third.settled()
        #expect(try await onServer("notes", note) == #"{"text":"Tea"}"#)
        _ = first
    }

    /// Opens both collections, pauses, and changes an item in each in one transaction.
    private func writeTransaction(
        _ sync: StorageSync
    ) async throws -> (folders: SyncedStorageEngine, notes: SyncedStorageEngine) {
        let (folders, notes) = (try await sync.collection(named: "folders"), try await sync.collection(named: "notes"))
        try await sync.settled()
        await sync.pause()
        _ = try await StorageBatchGroup.apply([
            (folders, StorageBatch([.write(key: folder, data: Data("1".utf8))])),
            (notes, StorageBatch([.write(key: note, data: Data("2".utf8))])),
        ])
        return (folders, notes)
    }

    @Test func `A transaction waits for a program that has opened all of its collections`() async throws {
        let first = try await sync(ScriptedRemote(server))
        _ = try await writeTransaction(first)
        let remote = ScriptedRemote(server)
        let second = try await sync(remote)
        let other = try await second.collection(named: "folders")
        try await other.write(Data("3".utf8), key: CacheKey(verbatim: "g"))
        for await status in second.statusUpdates where status.pending == 2 { break }
        #expect(try await onServer("folders", CacheKey(verbatim: "g")) == "3")
        #expect(remote.sent.flatMap(\.changes).map(\.key) == [CacheKey(verbatim: "g")])
        _ = try await second.collection(named: "notes")
        try await second.settled()
        #expect(try await onServer("folders", folder) == "1")
        #expect(try await onServer("notes", note) == "2")
    }

    @Test func `A transaction is given up with its changes of a collection that is not open`() async throws {
        let first = try await sync(ScriptedRemote(server), startsPaused: true)
        let (folders, notes) = (
            try await first.collection(named: "folders"), try await first.collection(named: "notes")
        )
        _ = try await StorageBatchGroup.apply([
            (folders, StorageBatch([.write(key: folder, data: Data("1".utf8))])),
            (notes, StorageBatch([.write(key: note, data: Data("2".utf8))])),
        ])
        let second = try await sync(ScriptedRemote(server))
        _ = try await second.collection(named: "folders")
        try await second.discard(folder, in: "folders")
        #expect(try await second.pending().isEmpty)
        #expect(try await folders.fetchCount() == 0)
        #expect(try await notes.fetchCount() == 0)
    }

    /// The server refuses the transaction of a program that ends. No program opens the second collection any more.
    @Test func `A refused transaction can be given up by a program that has opened a part of its collections`()
        async throws
    {
        let remote = ScriptedRemote(server)
        let first = try await sync(remote)
        let (folders, notes) = try await writeTransaction(first)
        let (attempts, attempt) = AsyncStream.makeStream(of: Void.self)
        remote.change {
            $0.beforeApplying = { [first] _ in
                await first.pause()
                attempt.yield()
                throw StorageError(.unreachable, "There is no network.")
            }
        }
        await first.resume()
        for await _ in attempts { break }
        let other = server.collection(named: "folders")
        try await other.write(Data("another".utf8), key: folder)
        let second = try await sync(ScriptedRemote(server))
        let opened = try await second.collection(named: "folders")
        // It sends the request again, which is refused, and finds out what the server has.
        for await _ in second.statusUpdates {
            try await second.discard(folder, in: "folders")
            if try await opened.fetch(key: folder) == Data("another".utf8) { break }
            await second.syncNow()
        }
        #expect(try await second.pending().isEmpty)
        #expect(try await notes.fetchCount() == 0)
        try await opened.write(Data("3".utf8), key: folder)
        try await second.settled()
        #expect(try await onServer("folders", folder) == "3")
        #expect(try await onServer("notes", note) == nil)
        await first.resume()
        try await first.settled()
        #expect(try await folders.fetch(key: folder) == Data("3".utf8))
        #expect(try await notes.fetchCount() == 0)
    }

    @Test func `What a removal has taken with it comes back in a collection that is not open`() async throws {
        let first = try await sync(ScriptedRemote(server))
        let (folders, notes) = (
            try await first.collection(named: "folders"), try await first.collection(named: "notes")
        )
        try await notes.references?.declareReferences([
            StorageReference("folder", to: "folders", onRemoval: .remove)
        ])
        let text = Data(#"{"id":"n","folder":"f"}"#.utf8)
        try await folders.write(Data(#"{"id":"f","name":"Work"}"#.utf8), key: folder)
        try await notes.write(text, key: note)
        try await first.settled()
        await first.pause()
        try await folders.remove(key: folder)
        #expect(try await notes.fetchCount() == 0)
        try await server.collection(named: "folders").write(Data(#"{"id":"f","name":"Job"}"#.utf8), key: folder)
        let second = try await sync(ScriptedRemote(server))
        let others = try await second.collection(named: "folders")
        for try await _ in others.changes() where try await others.fetchCount() == 1 { break }
        #expect(try await others.fetch(key: folder) == Data(#"{"id":"f","name":"Job"}"#.utf8))
        #expect(try await notes.fetch(key: note) == text)
        try await second.settled()
        #expect(try await second.pending().isEmpty)
        #expect(try await onServer("notes", note) == String(decoding: text, as: UTF8.self))
    }

    /// The pull shows that the request was applied, but does not read the collection that was opened after its start.
    @Test func `An item of a collection that is opened during a pull does not go back`() async throws {
        let first = try await stopAfterTaking(arrives: true)
        let (remote, gate) = (ScriptedRemote(server), SyncGate())
        let isFirst = Locked(true)
        remote.change { script in
            script.whilePulling = {
                let mustWait = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if mustWait { await gate.pass() }
            }
        }
        let second = try await sync(remote)
        _ = try await second.collection(named: "folders")
        await gate.arrival()
        let notes = try await second.collection(named: "notes")
        let log = try #require(notes.log)
        let start = try await log.fetchCursor()
        gate.open()
        try await second.settled()
        #expect(try await second.pending().isEmpty)
        #expect(try await notes.fetch(key: note) == Data(#"{"text":"Tea"}"#.utf8))
        #expect(try await log.fetchChanges(ChangesRequest(since: start)).value?.changes.isEmpty == true)
        _ = first
    }

    @Test func `What a request has written does not replace what a pull has brought since`() {
        let (item, id) = (SyncItemID(collection: "notes", key: note), UUID())
        var draft = OutboxDraft(newID: { id }) { MergeResult(data: $0.local) }
        draft.items[item] = Data("0".utf8)
        draft.write([(item, Data("1".utf8))], asOne: false)
        #expect(draft.take([item], upTo: 1, maximumBytes: .max)?.id == id)
        // A snapshot, which does not show which requests were applied.
        draft.receive(item, Data("2".utf8))
        draft.receiveSent(by: id) { _ in true }
        draft.settle(id, .applied)
        #expect(draft.items[item] == Data("2".utf8))
        #expect(draft.records.isEmpty)
    }
}
