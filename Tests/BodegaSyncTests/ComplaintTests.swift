import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// What users of other synchronization libraries have complained about.
@Suite struct ComplaintTests {
    private let server = MemoryStorageEngine()

    private var onServer: MemoryStorageEngine { server.collection(named: "notes") }

    private func serverText(_ key: String) async throws -> String? {
        try await onServer.fetch(key: CacheKey(key)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static let unreachable = StorageError(.unreachable, "There is no network.")

    /// powersync.dart 307
    @Test func `What others have changed is shown while own changes wait`() async throws {
        let ada = try await Replica(of: server)
        let gate = SyncGate()
        ada.remote.change { $0.beforeApplying = { _ in await gate.pass() } }
        try await ada.write(#"{"a":1,"b":1}"#, "own")
        await gate.arrival()
        try await onServer.write(Data(#"{"a":2,"b":2}"#.utf8), key: CacheKey("other"))
        try await ada.wait(for: #"{"a":2,"b":2}"#, "other")
        #expect(try await serverText("own") == nil)
        gate.open()
        try await ada.sync.settled()
        #expect(try await serverText("own") == #"{"a":1,"b":1}"#)
    }

    /// TanStack/db 1323
    @Test func `An own change that was accepted is never shown as before`() async throws {
        try await onServer.write(Data(#"{"a":1,"b":1}"#.utf8), key: CacheKey("n"))
        let ada = try await Replica(of: server)
        try await ada.sync.settled()
        // A pull has read the old version, and passes it on after the new one was accepted.
        let (gate, accepted) = (SyncGate(), SyncGate())
        ada.remote.change { script in
            script.whilePulling = { await gate.pass() }
            script.afterApplying = { _ in await accepted.pass() }
        }
        try await onServer.write(Data(#"{"a":0,"b":0}"#.utf8), key: CacheKey("other"))
        await gate.arrival()
        try await ada.write(#"{"a":2,"b":1}"#, "n")
        await accepted.arrival()
        var seen: [String?] = []
        var changes = ada.notes.changes().makeAsyncIterator()
        _ = try await changes.next()
        accepted.open()
        gate.open()
        try await ada.sync.settled()
        seen.append(try await ada.text("n"))
        try await ada.write(#"{"end":1,"b":1}"#, "end")
        while let update = try await changes.next() {
            seen.append(try await ada.text("n"))
            if case .changes(let delta) = update, delta.changes.contains(where: { $0.key == CacheKey("end") }) { break }
            if case .changes(let delta) = update {
                #expect(!delta.changes.contains { $0.key == CacheKey("n") })
            }
        }
        #expect(seen.allSatisfy { $0 == #"{"a":2,"b":1}"# })
    }

    /// sqlite-data 432
    @Test func `A temporary error drops nothing`() async throws {
        let ada = try await Replica(of: server)
        let failures = Locked(3)
        ada.remote.change { script in
            script.beforeApplying = { _ in
                let fails = failures.withLock { failures in
                    failures -= 1
                    return failures >= 0
                }
                if fails { throw Self.unreachable }
            }
        }
        for number in 1...5 { try await ada.write(#"{"a":\#(number),"b":0}"#, "\(number)") }
        try await ada.sync.settled()
        #expect(try await onServer.fetchCount() == 5)
        #expect(failures.withLock { $0 } < 0)
    }

    /// sqlite-data 418
    @Test func `A removal and then an insertion of one key are both sent`() async throws {
        let (ada, bob) = (try await Replica(of: server), try await Replica(of: server))
        try await ada.write(#"{"a":1,"b":1}"#, "n")
        try await ada.sync.settled()
        await ada.sync.pause()
        try await ada.notes.remove(key: CacheKey("n"))
        try await ada.write(#"{"a":2}"#, "n")
        await ada.sync.resume()
        try await ada.sync.settled()
        try await bob.sync.settled()
        #expect(try await serverText("n") == #"{"a":2}"#)
        #expect(try await bob.text("n") == #"{"a":2}"#)
    }

    /// sqlite-data 354
    @Test(arguments: [true, false])
    func `The policy decides between two changes of a property`(_ laterWins: Bool) async throws {
        let ada = try await Replica(of: server, policy: laterWins ? .laterWins : .earlierWins)
        let bob = try await Replica(of: server, policy: laterWins ? .laterWins : .earlierWins)
        try await ada.write(#"{"a":1,"b":1,"c":1}"#, "n")
        try await ada.sync.settled()
        try await bob.sync.settled()
        await bob.sync.pause()
        try await bob.write(#"{"a":3,"b":1,"c":3}"#, "n")
        try await ada.write(#"{"a":2,"b":2,"c":1}"#, "n")
        try await ada.sync.settled()
        await bob.sync.resume()
        try await bob.sync.settled()
        try await ada.sync.settled()
        let expected = laterWins ? #"{"a":3,"b":2,"c":3}"# : #"{"a":2,"b":2,"c":3}"#
        for text in [try await serverText("n"), try await ada.text("n"), try await bob.text("n")] {
            #expect(text == expected)
        }
        let conflicts = try await bob.sync.conflicts()
        #expect(conflicts.flatMap(\.conflict.losses).map(\.path) == ["$['a']"])
        let lost = conflicts.first?.conflict.losses.first?.lost
        #expect(lost == Data(laterWins ? "2".utf8 : "3".utf8))
        #expect(try await ada.sync.conflicts().isEmpty)
    }

    /// sqlite-data 354, with a policy of the app
    @Test func `What a closure does not take is kept, unless it makes a version of its own`() async throws {
        let (mine, others) = (#"{"a":3,"b":1,"c":9}"#, #"{"a":2,"b":4}"#)
        let closures: [(take: @Sendable (SyncVersions) -> Data?, losses: [String])] = [
            ({ $0.local }, ["$ \(others) remote"]),
            ({ $0.remote }, ["$ \(mine) local"]),
            ({ _ in Data(#"{"a":3,"b":4,"c":9}"#.utf8) }, ["$['a'] 2 remote"]),
            ({ _ in Data(#"{"a":2,"b":4,"c":9}"#.utf8) }, ["$['a'] 3 local"]),
            ({ _ in Data(#"{"a":5,"b":4,"c":9}"#.utf8) }, []),
        ]
        for (number, (take, losses)) in closures.enumerated() {
            let server = MemoryStorageEngine()
            let ada = try await Replica(of: server)
            let bob = try await Replica(of: server, policy: .custom(take))
            try await ada.write(#"{"a":1,"b":1}"#, "n")
            try await ada.sync.settled()
            try await bob.sync.settled()
            await bob.sync.pause()
            try await bob.write(mine, "n")
            try await ada.write(others, "n")
            try await ada.sync.settled()
            await bob.sync.resume()
            try await bob.sync.settled()
            let found = try await bob.sync.conflicts().flatMap(\.conflict.losses).map { loss in
                "\(loss.path) \(loss.lost.map { String(decoding: $0, as: UTF8.self) } ?? "-") \(loss.side.rawValue)"
            }
            #expect(found == losses, "\(number)")
        }
    }

    /// TanStack/db 921
    @Test func `A change whose answer was lost is made once`() async throws {
        let (ada, bob) = (try await Replica(of: server), try await Replica(of: server))
        let mustFail = Locked(true)
        let (failures, failure) = AsyncStream.makeStream(of: Void.self)
        ada.remote.change { script in
            script.afterApplying = { _ in
                let fails = mustFail.withLock { mustFail in
                    defer { mustFail = false }
                    return mustFail
                }
                guard fails else { return }
                // Another replica changes the same property before the request is repeated.
                try await bob.sync.settled()
                try await bob.write(#"{"a":2,"b":1}"#, "n")
                try await bob.sync.settled()
                failure.yield()
                throw Self.unreachable
            }
        }
        try await ada.write(#"{"a":1,"b":1}"#, "n")
        for await _ in failures { break }
        try await ada.sync.settled()
        #expect(try await serverText("n") == #"{"a":2,"b":1}"#)
        #expect(try await ada.text("n") == #"{"a":2,"b":1}"#)
        #expect(Set(ada.remote.sent.map(\.id)).count == 1)
    }

    /// mono 1767
    @Test func `An item that is refused is parked alone, and the others are sent`() async throws {
        let (ada, bob) = (try await Replica(of: server), try await Replica(of: server))
        ada.remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.key == CacheKey("13") }) {
                    throw StorageError(.tooLarge, "The item is too large.")
                }
            }
        }
        await ada.sync.pause()
        for number in 1...40 { try await ada.write(#"{"a":\#(number),"b":0}"#, "\(number)") }
        await ada.sync.resume()
        try await ada.sync.settled()
        try await bob.sync.settled()
        #expect(try await bob.notes.fetchCount() == 39)
        let parked = try await ada.sync.parked()
        #expect(parked.map(\.key) == [CacheKey("13")])
        #expect(parked.first?.failure?.code == "tooLarge")
        #expect(try await ada.text("13") == #"{"a":13,"b":0}"#)
        // All 40, and twice 20, 10, 5, 2, and 1: not 40 requests for one that is refused.
        #expect(ada.remote.sent.count <= 12)
        ada.remote.change { $0.beforeApplying = { _ in } }
        try await ada.sync.retry(CacheKey("13"), in: "notes")
        try await ada.sync.settled()
        #expect(try await serverText("13") == #"{"a":13,"b":0}"#)
        #expect(try await ada.sync.parked().isEmpty)
    }

    /// The limit of a request's size was one for all items: it grew with each of the others that was accepted, so that
    /// the refused one was sent again and again with all its neighbours.
    @Test
    func `An item that is refused is found while others are written all the time`() async throws {
        let ada = try await Replica(of: server)
        let (refusals, written) = (Locked<[Int]>([]), Locked(0))
        let write = { @Sendable [onServer] in
            let number = written.withLock { number in
                number += 1
                return number
            }
            try await ada.write(#"{"a":0,"b":\#(number)}"#, "new \(number)")
            for try await _ in onServer.changes() where try await onServer.keyExists(CacheKey("new \(number)")) {
                return
            }
        }
        ada.remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.key == CacheKey("13") }) {
                    refusals.withLock { $0.append(batch.changes.count) }
                    throw StorageError(.tooLarge, "The item is too large.")
                }
            }
            // Three requests with new items are accepted between a refusal and the next request with the refused items.
            script.beforePulling = {
                if refusals.withLock({ $0.count }) * 3 <= written.withLock({ $0 }) { return }
                for _ in 1...3 { try await write() }
            }
        }
        await ada.sync.pause()
        for number in 1...40 { try await ada.write(#"{"a":\#(number),"b":0}"#, "\(number)") }
        await ada.sync.resume()
        try await ada.sync.settled()
        #expect(refusals.withLock { $0 } == [40, 20, 10, 5, 2, 1])
        #expect(try await ada.sync.parked().map(\.key) == [CacheKey("13")])
        #expect(try await onServer.fetchCount() == 39 + written.withLock { $0 })
    }

    /// 300 of 600 items took 3,300 requests, because each was searched for by halves.
    @Test func `Items that the server names in its refusals cost a request each`() async throws {
        let ada = try await Replica(of: server)
        let (count, requests) = (120, Locked(0))
        let refused = Set((1...count / 2).map { CacheKey("\($0 * 2)") })
        ada.remote.change { script in
            script.beforeApplying = { batch in
                requests.withLock { $0 += 1 }
                for change in batch.changes where refused.contains(change.key) {
                    throw StorageError(.permissionDenied, "The item is not yours.", key: change.key)
                }
            }
        }
        await ada.sync.pause()
        for number in 1...count { try await ada.write(#"{"a":\#(number),"b":0}"#, "\(number)") }
        await ada.sync.resume()
        try await ada.sync.settled()
        #expect(Set(try await ada.sync.parked().map(\.key)) == refused)
        #expect(try await onServer.fetchCount() == count / 2)
        #expect(requests.withLock { $0 } == count / 2 + 1)
    }

    /// mono 6326
    @Test func `A refused item is reported, and does not end sending`() async throws {
        let ada = try await Replica(of: server)
        ada.remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.key == CacheKey("bad") }) {
                    throw StorageError(.permissionDenied, "The item is not yours.")
                }
            }
        }
        let outcomes = ada.sync.outcomes
        try await ada.write(#"{"a":1,"b":1}"#, "bad")
        for await outcome in outcomes {
            guard outcome.key == CacheKey("bad"), case .refused(let failure) = outcome.kind else { continue }
            #expect(failure.code == "permissionDenied")
            break
        }
        try await ada.wait { $0.parked == 1 }
        try await ada.write(#"{"a":1,"b":1}"#, "good")
        try await ada.sync.settled()
        #expect(try await serverText("good") == #"{"a":1,"b":1}"#)
        try await ada.sync.discard(CacheKey("bad"), in: "notes")
        #expect(try await ada.text("bad") == nil)
        try await ada.wait { $0.parked == 0 }
    }

    /// rxdb 5571
    @Test func `A pull during an upload is stored`() async throws {
        let ada = try await Replica(of: server)
        let gate = SyncGate()
        ada.remote.change { $0.beforeApplying = { _ in await gate.pass() } }
        try await ada.write(#"{"a":1,"b":1}"#, "own")
        await gate.arrival()
        for number in 1...3 {
            try await onServer.write(Data(#"{"a":\#(number),"b":0}"#.utf8), key: CacheKey("other"))
            try await ada.wait(for: #"{"a":\#(number),"b":0}"#, "other")
        }
        gate.open()
        try await ada.sync.settled()
        #expect(try await ada.text("other") == #"{"a":3,"b":0}"#)
    }

    /// WatermelonDB 1374
    @Test func `A change during an upload is sent after it`() async throws {
        let ada = try await Replica(of: server)
        let gate = SyncGate()
        ada.remote.change { $0.beforeApplying = { _ in await gate.pass() } }
        try await ada.write(#"{"a":1,"b":1}"#, "n")
        await gate.arrival()
        try await ada.write(#"{"a":2,"b":1}"#, "n")
        gate.open()
        try await ada.sync.settled()
        #expect(try await serverText("n") == #"{"a":2,"b":1}"#)
        #expect(try await ada.text("n") == #"{"a":2,"b":1}"#)
    }

    /// electric 4773
    @Test func `Items that are written between the snapshot and the log are there`() async throws {
        for number in 0..<1_200 {
            try await onServer.write(Data(#"{"a":\#(number),"b":0}"#.utf8), key: CacheKey("\(number)"))
        }
        let (server, count) = (onServer, Locked(0))
        let ada = try await Replica(of: self.server)
        await ada.sync.pause()
        let bob = ScriptedRemote(self.server)
        bob.change { script in
            script.whilePulling = {
                // While the snapshot is read, items come, change and go.
                let round = count.withLock { count in
                    count += 1
                    return count
                }
                guard round == 1 else { return }
                try await server.write(Data(#"{"a":-1,"b":0}"#.utf8), key: CacheKey("new"))
                try await server.write(Data(#"{"a":-2,"b":0}"#.utf8), key: CacheKey("5"))
                try await server.remove(key: CacheKey("7"))
                try await server.remove(key: CacheKey("1100"))
            }
        }
        let local = MemoryStorageEngine()
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: bob)
        let notes = try await sync.collection(named: "notes")
        try await sync.settled()
        let expected = Dictionary(try await onServer.fetchAll().map { ($0.key, $0.data) }) { first, _ in first }
        let items = Dictionary(try await notes.fetchAll().map { ($0.key, $0.data) }) { first, _ in first }
        #expect(items == expected)
        #expect(items.count == 1_199)
    }
}
