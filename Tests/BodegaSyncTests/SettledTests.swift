import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What `StorageSync.settled()` waits for.
@Suite struct SettledTests {
    private let server = MemoryStorageEngine()

    private func serverText(_ key: String) async throws -> String? {
        let notes = server.collection(named: "notes")
        return try await notes.fetch(key: CacheKey(key)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// It waited for a moment without any changes.
    @Test func `Changes are settled while others are made all the time`() async throws {
        let ada = try await Replica(of: server)
        let last = Locked(0)
        // Each request ends with another change of its item, and a new item.
        ada.remote.change { script in
            script.afterApplying = { _ in
                let number = last.withLock { number in
                    number += 1
                    return number
                }
                try await ada.write(#"{"a":\#(number),"b":1}"#, "n")
                try await ada.write(#"{"a":\#(number),"b":2}"#, "new \(number)")
            }
        }
        await ada.sync.pause()
        for number in 1...300 { try await ada.write(#"{"a":\#(number),"b":0}"#, "\(number)") }
        try await ada.write(#"{"a":0,"b":1}"#, "n")
        await ada.sync.resume()
        try await ada.sync.settled()
        for number in 1...300 { #expect(try await serverText("\(number)") != nil) }
        #expect(try await serverText("n") != nil)
        try await ada.write(#"{"a":0,"b":3}"#, "last")
        try await ada.sync.settled()
        #expect(try await serverText("last") == #"{"a":0,"b":3}"#)
        #expect(try await !ada.sync.pending().isEmpty)
        ada.remote.change { $0.afterApplying = { _ in } }
        try await ada.sync.settled()
        #expect(try await ada.sync.pending().isEmpty)
    }

    @Test
    func `A change that was made while an earlier one is on its way is waited for`() async throws {
        let ada = try await Replica(of: server)
        let (first, second, pulls) = (SyncGate(), SyncGate(), AsyncStream<Void>.makeStream())
        ada.remote.change { script in
            script.beforeApplying = { batch in
                await (batch.changes.first?.data == Data("1".utf8) ? first : second).pass()
            }
            script.whilePulling = { pulls.continuation.yield() }
        }
        var pull = pulls.stream.makeAsyncIterator()
        try await ada.write("1", "n")
        await first.arrival()
        try await ada.write("2", "n")
        let isSettled = Locked(false)
        let settling = Task {
            try await ada.sync.settled()
            isSettled.withLock { $0 = true }
        }
        await pull.next()
        first.open()
        await second.arrival()
        // The remote database has the earlier one, and is read.
        for _ in 1...5 {
            await ada.sync.syncNow()
            await pull.next()
        }
        #expect(!isSettled.withLock { $0 })
        second.open()
        try await settling.value
        #expect(try await serverText("n") == "2")
    }

    /// It ended when the pull had found what is missing, before that was sent.
    @Test func `What another remote database lacks is waited for`() async throws {
        let local = MemoryStorageEngine()
        do {
            let sync = try await StorageSync(
                local: { local.collection(named: $0) }, remote: { [server] in server.collection(named: $0) })
            let notes = try await sync.collection(named: "notes")
            for number in 1...3 { try await notes.write(Data("\(number)".utf8), key: CacheKey("\(number)")) }
            try await sync.settled()
        }
        let other = MemoryStorageEngine()
        let remote = ScriptedRemote(other)
        var options = SyncOptions()
        options.startsPaused = true
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: remote, options: options)
        _ = try await sync.collection(named: "notes")
        let pulls = AsyncStream<Void>.makeStream()
        remote.change { script in
            script.whilePulling = { pulls.continuation.yield() }
            script.beforeApplying = { [weak sync] _ in
                var pull = pulls.stream.makeAsyncIterator()
                for _ in 1...5 {
                    await sync?.syncNow()
                    await pull.next()
                }
            }
        }
        let settling = Task { try await sync.settled() }
        for _ in 1...100 { await Task.yield() }
        await sync.resume()
        try await settling.value
        #expect(try await other.collection(named: "notes").fetchCount() == 3)
    }
}
