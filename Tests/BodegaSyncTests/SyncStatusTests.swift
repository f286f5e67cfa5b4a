import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import Observation
import TestSupport
import Testing

/// What `StorageSync.status` says.
@Suite struct SyncStatusTests {
    @Test func `The status is observable`() async throws {
        let replica = try await Replica(of: MemoryStorageEngine())
        let (sync, notes) = (replica.sync, replica.notes)
        await sync.pause()
        let changes = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = sync.status
        } onChange: {
            changes.continuation.yield()
        }
        try await notes.write(Data("{}".utf8), key: CacheKey("1"))
        for await _ in changes.stream { break }
        for await status in sync.statusUpdates where status.pending == 1 { break }
        #expect(sync.status.isPaused)
        #expect(!sync.status.isSettled)
        await sync.resume()
        try await sync.settled()
        for await status in sync.statusUpdates where status.pending == 0 { break }
    }

    /// A listener was woken with a lock held that the end of a cancelled listener waits for, and the other way round.
    @Test func `Listeners that are cancelled while the status changes hold nothing up`() async throws {
        let replica = try await Replica(of: MemoryStorageEngine())
        let (sync, notes) = (replica.sync, replica.notes)
        await sync.pause()
        let (count, isDone) = (1_000, Locked(false))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !isDone.withLock({ $0 }) {
                        let listener = Task { for await _ in sync.statusUpdates {} }
                        for _ in 0..<3 { await Task.yield() }
                        listener.cancel()
                        await listener.value
                    }
                }
            }
            for number in 0..<count { try await notes.write(Data("{}".utf8), key: CacheKey("\(number)")) }
            isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
        for await status in sync.statusUpdates where status.pending == count { break }
    }

    @Test func `The status is that of the last of two calls that pause and go on`() async throws {
        for number in 0..<40 {
            let server = MemoryStorageEngine()
            let replica = try await Replica(of: server)
            let pausing = Task { await replica.sync.pause() }
            let resuming = Task { await replica.sync.resume() }
            await pausing.value
            await resuming.value
            if replica.sync.status.isPaused {
                try await replica.write("\(number)", "1")
                for _ in 0..<200 { await Task.yield() }
                #expect(try await server.collection(named: "notes").fetchCount() == 0, "It says that it is paused.")
            } else {
                try await replica.write("\(number)", "1")
                try await replica.sync.settled()
            }
        }
    }

    @Test func `A change that another program parks is counted`() async throws {
        let (local, server) = (MemoryStorageEngine(), MemoryStorageEngine())
        let remote = ScriptedRemote(server)
        remote.change { $0.beforeApplying = { _ in throw StorageError(.tooLarge, "No.") } }
        var syncs: [StorageSync] = []
        for _ in 0..<2 {
            syncs.append(
                try await StorageSync(local: { local.collection(named: $0) }, remote: remote, options: SyncOptions()))
        }
        var notes: [SyncedStorageEngine] = []
        for sync in syncs { notes.append(try await sync.collection(named: "notes")) }
        try await notes[1].write(Data("1".utf8), key: CacheKey("1"))
        for sync in syncs {
            try await sync.settled()
            try await sync.wait { $0.pending == 0 && $0.parked == 1 }
        }
        try await syncs[1].discard(CacheKey("1"), in: "notes")
        for sync in syncs { try await sync.wait { $0.pending == 0 && $0.parked == 0 } }
    }

    @Test func `Credentials that the app can't renew are tried again`() async throws {
        let (local, server) = (MemoryStorageEngine(), MemoryStorageEngine())
        let isValid = Locked(false)
        let remote = ScriptedRemote(server)
        remote.change { $0.check(isValid) }
        var options = SyncOptions()
        options.maximumDelay = .milliseconds(20)
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: remote, options: options)
        let notes = try await sync.collection(named: "notes")
        try await notes.write(Data("{}".utf8), key: CacheKey("1"))
        for await status in sync.statusUpdates where status.needsCredentials { break }
        isValid.withLock { $0 = true }
        for await status in sync.statusUpdates where status.isSettled { break }
        #expect(try await server.collection(named: "notes").fetchCount() == 1)
        #expect(!sync.status.needsCredentials)
    }

    @Test func `The state says why a change waits while others' changes are read`() async throws {
        let server = MemoryStorageEngine()
        let replica = try await Replica(of: server)
        try await replica.sync.settled()
        #expect(replica.sync.status.failure == nil)
        var refusal = StorageError(StorageError.Code(rawValue: "rateLimited"), "Later.")
        refusal.retryAfter = .seconds(3_000)
        replica.remote.change { [refusal] in $0.beforeApplying = { _ in throw refusal } }
        let before = replica.sync.status.lastSuccess
        try await replica.write(#"{"a":1}"#, "own")
        try await replica.wait { $0.failure?.code == "rateLimited" }
        // A pull succeeds.
        try await server.collection(named: "notes").write(Data(#"{"a":2}"#.utf8), key: CacheKey("other"))
        try await replica.wait(for: #"{"a":2}"#, "other")
        try await replica.wait { $0.lastSuccess != before }
        let status = replica.sync.status
        #expect(status.failure?.code == "rateLimited" && status.pending == 1)
        replica.remote.change { $0.beforeApplying = { _ in } }
        try await replica.sync.settled()
        #expect(replica.sync.status.failure == nil)
    }
}
