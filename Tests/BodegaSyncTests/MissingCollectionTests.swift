import Bodega
@testable import BodegaSync
import Foundation
import TestSupport
import Testing

/// Collections and items that the remote database does not give.
@Suite struct MissingCollectionTests {

    private static func key(_ text: String) -> CacheKey { CacheKey(verbatim: text) }

    @Test func `A collection that the remote database does not have holds up no other`() async throws {
        let shelf = Shelf()
        shelf.close(["new"])
        let sync = try await shelf.replica(MemoryStorageEngine())
        let (old, new) = (try await sync.collection(named: "old"), try await sync.collection(named: "new"))
        try await new.write(Data("1".utf8), key: Self.key("n"))
        try await old.write(Data("2".utf8), key: Self.key("o"))
        let remote = shelf.server.collection(named: "old")
        try await sync.wait { _ in try await remote.fetch(key: Self.key("o")) == Data("2".utf8) }
        try await remote.write(Data("3".utf8), key: Self.key("p"))
        while try await old.fetch(key: Self.key("p")) == nil { await sync.syncNow() }
        try await sync.wait { $0.pending == 1 && $0.failure != nil }
        #expect(sync.status.failure?.message == #"The collection "new" can't be read: No such collection."#)
        #expect(!sync.status.isSettled && sync.status.parked == 0)
        // It is tried again without anything that happens elsewhere.
        shelf.close([])
        try await sync.wait { $0.isSettled }
        #expect(try await shelf.server.collection(named: "new").fetch(key: Self.key("n")) == Data("1".utf8))
    }

    @Test func `A collection without a log is asked again and again`() async throws {
        let server = MemoryStorageEngine().collection(named: "n")
        let local = MemoryStorageEngine()
        let scoped = server.scoped(to: StorageScope(rights: [.read, .write]))
        let remote = EngineSyncRemote(pollInterval: .milliseconds(10)) { _ in scoped }
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: remote)
        let notes = try await sync.collection(named: "n")
        try await sync.settled()
        try await server.write(Data("1".utf8), key: Self.key("a"))
        var data: Data?
        for await _ in sync.statusUpdates {
            data = try await notes.fetch(key: Self.key("a"))
            if data != nil { break }
        }
        #expect(data == Data("1".utf8))
    }

    @Test func `Changes of a collection that is taken away wait, and come back with it`() async throws {
        let shelf = Shelf()
        let sync = try await shelf.replica(MemoryStorageEngine())
        let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
        try await sync.settled()
        shelf.close(["b"])
        await sync.syncNow()
        // The engine that was opened before goes on, so both collections are read until it is opened again.
        try await a.write(Data("1".utf8), key: Self.key("x"))
        try await b.write(Data("2".utf8), key: Self.key("x"))
        try await sync.wait { _ in
            try await shelf.server.collection(named: "a").fetch(key: Self.key("x")) == Data("1".utf8)
        }
        shelf.close([])
        try await sync.settled()
        #expect(try await shelf.server.collection(named: "b").fetch(key: Self.key("x")) == Data("2".utf8))
    }

    /// Changes were parked before, each after a request of its own.
    @Test(arguments: [["a"], ["a", "b"]])
    func `Changes wait while the right to write to their collections is missing`(_ denied: [String]) async throws {
        let (server, local) = (MemoryStorageEngine(), MemoryStorageEngine())
        func replica(denying denied: [String]) async throws -> StorageSync {
            try await StorageSync(
                local: { local.collection(named: $0) },
                remote: EngineSyncRemote { name in
                    let rights: StorageScope.Rights = denied.contains(name) ? [.read, .observe] : .items
                    return server.collection(named: name).scoped(to: StorageScope(rights: rights))
                })
        }
        do {
            let sync = try await replica(denying: denied)
            let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
            try await sync.settled()
            for number in 0..<20 {
                try await a.write(Data("1".utf8), key: Self.key("\(number)"))
                try await b.write(Data("2".utf8), key: Self.key("\(number)"))
            }
            let sent = denied.contains("b") ? 0 : 20
            try await sync.wait { $0.failure?.code == "permissionDenied" && $0.pending == 40 - sent }
            #expect(sync.status.parked == 0)
            #expect(try await server.collection(named: "b").fetchCount() == sent)
            // Tried again, and not parked by that either.
            for _ in 0..<20 {
                await sync.syncNow()
                try await b.write(Data("3".utf8), key: Self.key("later"))
            }
            #expect(sync.status.parked == 0)
            await sync.pause()
        }
        let sync = try await replica(denying: [])
        let (a, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
        try await sync.settled()
        #expect(try await server.collection(named: "a").fetchCount() == 20)
        #expect(try await server.collection(named: "b").fetchCount() == 21)
        #expect(try await a.fetchCount() == 20)
        #expect(try await b.fetchCount() == 21)
    }

    @Test func `Changes go without those of a collection that is gone, which can be given up`() async throws {
        let (shelf, local) = (Shelf(), MemoryStorageEngine())
        do {
            let sync = try await shelf.replica(local)
            let collections = [try await sync.collection(named: "a"), try await sync.collection(named: "b")]
            // Nothing is sent before the first pull.
            try await sync.settled()
            await sync.pause()
            for collection in collections {
                for key in ["x", "y"] { try await collection.write(Data(key.utf8), key: Self.key(key)) }
            }
        }
        shelf.close(["b"])
        let sync = try await shelf.replica(local)
        let (_, b) = (try await sync.collection(named: "a"), try await sync.collection(named: "b"))
        try await sync.wait { $0.pending == 2 && $0.failure != nil }
        #expect(try await shelf.server.collection(named: "a").fetchCount() == 2)
        #expect(sync.status.parked == 0)
        try await sync.discard(Self.key("x"), in: "b")
        #expect(sync.status.pending == 1)
        #expect(try await b.fetchKeys() == [Self.key("y")])
        shelf.close([])
        try await sync.wait { $0.isSettled }
        #expect(try await shelf.server.collection(named: "b").fetchKeys() == [Self.key("y")])
    }

    @Test func `More changes of closed collections than fit into a request hold up none`() async throws {
        let (shelf, local) = (Shelf(), MemoryStorageEngine())
        do {
            let sync = try await shelf.replica(local)
            await sync.pause()
            let closed = try await sync.collection(named: "closed")
            let items = (0..<3_000).map { (Self.key("\($0)"), Data("\($0)".utf8)) }
            try await closed.write(items)
        }
        let sync = try await shelf.replica(local)
        let open = try await sync.collection(named: "open")
        try await open.write(Data("1".utf8), key: Self.key("x"))
        try await sync.settled()
        #expect(try await shelf.server.collection(named: "open").fetchCount() == 1)
        #expect(try await shelf.server.collection(named: "closed").fetchCount() == 0)
        #expect(sync.status.pending == 3_000)
    }

    @Test func `The state counts what was written, and nothing after everything has settled`() async throws {
        let sync = try await Shelf().replica(MemoryStorageEngine())
        let notes = try await sync.collection(named: "notes")
        try await sync.settled()
        for round in 0..<100 {
            await sync.pause()
            try await notes.write(Data("\(round)".utf8), key: Self.key("k"))
            #expect(sync.status.pending == 1 && !sync.status.isSettled, "\(round)")
            await sync.resume()
            try await sync.settled()
            #expect(sync.status.pending == 0, "\(round)")
        }
    }

    @Test func `An item that can't be read holds up no other, and comes when it can be`() async throws {
        let (server, secret) = (MemoryStorageEngine(), EncryptionKeyset())
        let local = MemoryStorageEngine()
        let sync = try await StorageSync(
            local: { local.collection(named: $0) },
            remote: { try server.collection(named: $0).encrypted(with: secret) })
        let notes = try await sync.collection(named: "notes")
        let others = try await sync.collection(named: "others")
        try await sync.settled()
        let encrypted = try server.collection(named: "notes").encrypted(with: secret)
        try await server.collection(named: "notes").write(Data("plain".utf8), key: Self.key("bad"))
        try await encrypted.write(Data("1".utf8), key: Self.key("good"))
        try await notes.write(Data("2".utf8), key: Self.key("own"))
        try await server.collection(named: "others").encrypted(with: secret).write(Data("3".utf8), key: Self.key("o"))
        try await sync.settled()
        #expect(try await notes.fetch(key: Self.key("good")) == Data("1".utf8))
        #expect(try await encrypted.fetch(key: Self.key("own")) == Data("2".utf8))
        #expect(try await others.fetch(key: Self.key("o")) == Data("3".utf8))
        #expect(sync.status.failure?.message.contains(#"collection "notes" can't be read"#) == true)
        try await encrypted.write(Data("4".utf8), key: Self.key("bad"))
        try await sync.settled()
        #expect(try await notes.fetch(key: Self.key("bad")) == Data("4".utf8))
        #expect(sync.status.failure == nil)
    }

    @Test func `Databases whose items vanish, and reserved names, are refused`() async throws {
        let file = MemoryStorageEngine()
        let wrapped: @Sendable (String) throws -> any StorageEngine = {
            file.collection(named: $0).expiring(after: .seconds(60))
        }
        let failure = await #expect(throws: StorageError.self) {
            _ = try await StorageSync(local: wrapped, remote: { _ in MemoryStorageEngine() })
        }
        #expect(failure?.code == .invalidArgument && failure?.message.contains("expire") == true)
        let sync = try await StorageSync(
            local: { name in name.hasPrefix("emporium-") ? file.collection(named: name) : try wrapped(name) },
            remote: { _ in MemoryStorageEngine() })
        for name in ["notes", "emporium-outbox"] {
            let failure = await #expect(throws: StorageError.self) { _ = try await sync.collection(named: name) }
            #expect(failure?.code == .invalidArgument)
        }
    }

    @Test func `A remote database that is full for a while parks nothing`() async throws {
        let server = MemoryStorageEngine()
        let remote = ScriptedRemote(server)
        let attempts = Locked(0)
        remote.change { script in
            script.beforeApplying = { _ in
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                if number <= 6 { throw StorageError(.storageFull, "The disk is full.") }
            }
        }
        var options = SyncOptions()
        options.maximumDelay = .milliseconds(5)
        let local = MemoryStorageEngine()
        let sync = try await StorageSync(local: { local.collection(named: $0) }, remote: remote, options: options)
        let notes = try await sync.collection(named: "notes")
        try await notes.write(Data("1".utf8), key: Self.key("a"))
        try await sync.settled()
        #expect(try await server.collection(named: "notes").fetchCount() == 1)
        #expect(attempts.withLock { $0 } == 7)
    }

    @Test(arguments: ["refuse", "remove", "clear"])
    func `What the remote database has removed is removed, though an item names it`(_ rule: String) async throws {
        let (server, local) = (MemoryStorageEngine(), MemoryStorageEngine())
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: { server.collection(named: $0) })
        let folders = try await sync.collection(named: "folders")
        let notes = try await sync.collection(named: "notes")
        let removal: StorageReference.Removal = rule == "refuse" ? .refuse : rule == "remove" ? .remove : .clear
        try await notes.references?.declareReferences([
            StorageReference("folder", to: "folders", onRemoval: removal)
        ])
        try await folders.write(Data(#"{"id":"f"}"#.utf8), key: Self.key("f"))
        try await notes.write(Data(#"{"id":"n","folder":"f"}"#.utf8), key: Self.key("n"))
        try await sync.settled()
        try await server.collection(named: "folders").remove(key: Self.key("f"))
        try await server.collection(named: "folders").write(Data(#"{"id":"g"}"#.utf8), key: Self.key("g"))
        try await sync.settled()
        #expect(try await folders.fetchKeys() == [Self.key("g")])
        // What follows from the removal is the matter of the server.
        #expect(try await notes.fetch(key: Self.key("n")) == Data(#"{"id":"n","folder":"f"}"#.utf8))
    }

    @Test func `Streams end when the synchronization is released`() async throws {
        let shelf = Shelf()
        var sync: StorageSync? = try await shelf.replica(MemoryStorageEngine())
        let (updates, outcomes) = (try #require(sync?.statusUpdates), try #require(sync?.outcomes))
        sync = nil
        for await _ in updates {}
        for await _ in outcomes {}
    }

    @Test func `A server can't postpone requests for years`() {
        var machine = SyncMachine(seed: 1)
        _ = machine.step(.resume([]), now: .zero)
        let failure = SyncMachine.Failure(
            SyncFailure(code: "rateLimited", message: "Later."), isPostponed: true, retryAfter: .seconds(4_000_000_000))
        let effects = machine.step(.pullFailed(failure), now: .seconds(1))
        let waits = effects.compactMap { effect -> Duration? in
            if case .wait(let time) = effect { time } else { nil }
        }
        #expect(waits.count == 1 && waits.allSatisfy { (.seconds(3_600)...(.seconds(3_610))).contains($0) })
    }

    /// It was shown as before, and changes of it were taken for changes of others.
    @Test
    func `A change that was accepted stays while its item can't be read`() async throws {
        let server = MemoryStorageEngine()
        let replica = try await Replica(of: server)
        try await replica.write(#"{"a":0}"#, "n")
        try await replica.sync.settled()
        replica.remote.change { $0.unreadable = [CacheKey("n")] }
        try await replica.write(#"{"a":1}"#, "n")
        try await replica.sync.settled()
        #expect(try await replica.text("n") == #"{"a":1}"#)
        try await replica.write(#"{"a":2}"#, "n")
        try await replica.sync.settled()
        #expect(try await replica.text("n") == #"{"a":2}"#)
        replica.remote.change { $0.unreadable = [] }
        try await replica.sync.settled()
        #expect(try await replica.text("n") == #"{"a":2}"#)
        let stored = try await server.collection(named: "notes").fetch(key: CacheKey("n"))
        #expect(stored == Data(#"{"a":2}"#.utf8))
        #expect(try await replica.sync.conflicts().isEmpty)
    }

    @Test func `A service that answers with conflicts only is not asked without end`() {
        var (machine, now, count) = (SyncMachine(seed: 1), Duration.zero, 0)
        var effects = machine.step(.resume([]), now: now)
        // Each answer comes without delay.
        while now < .seconds(10), count < 1_000 {
            guard let effect = effects.popFirst(where: { if case .wait = $0 { false } else { true } }) else {
                let times = effects.compactMap { if case .wait(let until) = $0 { until } else { nil } }
                guard let next = times.min() else { break }
                now = max(next, now)
                effects = machine.step(.elapsed, now: now)
                continue
            }
            switch effect {
            case .prepare:
                count += 1
                effects += machine.step(.prepared(UUID(), all: [], waits: false), now: now)
            case .send(let id): effects += machine.step(.answered(id, .conflict), now: now)
            case .pull: effects += machine.step(.pulled(missing: nil), now: now)
            default: break
            }
        }
        #expect((20...100).contains(count), "\(count) requests in 10 s")
    }

    @Test func `A local collection that a program has removed is read again when it is opened`() async throws {
        let (server, folder) = (MemoryStorageEngine(), TemporaryFolder())
        for number in 0..<5 {
            try await server.collection(named: "notes").write(Data("\(number)".utf8), key: Self.key("\(number)"))
        }
        for round in 0..<2 {
            let file = try SQLiteStorageEngine(opening: folder.directory)
            let sync = try await StorageSync(
                local: { try file.collection(named: $0) }, remote: { server.collection(named: $0) })
            let notes = try await sync.collection(named: "notes")
            try await sync.settled()
            #expect(try await notes.fetchCount() == 5 + round)
            try await notes.write(Data("own".utf8), key: Self.key("own"))
            try await sync.settled()
            try await file.close()
            let other = try SQLiteStorageEngine(opening: folder.directory)
            try await other.removeCollection(named: "notes")
            try await other.close()
        }
        #expect(try await server.collection(named: "notes").fetchCount() == 6)
    }

    /// The remote database has answered others since, so the change waits for itself, and not for the network.
    @Test func `Synchronizing now sends a request for which a server has asked to wait`() {
        var machine = SyncMachine(seed: 1)
        let id = UUID()
        _ = machine.step(.resume([]), now: .zero)
        #expect(machine.step(.prepared(id, all: [], waits: false), now: .zero).contains(.send(id)))
        _ = machine.step(.pulled(missing: nil), now: .seconds(1))
        let failure = SyncMachine.Failure(
            SyncFailure(code: "unreachable", message: "Too many requests."), retryAfter: .seconds(3_000))
        #expect(!machine.step(.unanswered(id, failure), now: .seconds(2)).contains(.send(id)))
        #expect(!machine.step(.elapsed, now: .seconds(30)).contains(.send(id)))
        #expect(machine.step(.hurry, now: .seconds(31)).contains(.send(id)))
    }
}

extension Array {
    /// Removes the first element that meets a condition, and returns it.
    fileprivate mutating func popFirst(where condition: (Element) -> Bool) -> Element? {
        firstIndex(where: condition).map { remove(at: $0) }
    }
}
