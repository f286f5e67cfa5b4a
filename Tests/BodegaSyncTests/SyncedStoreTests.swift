import Bodega
import BodegaSync
import BodegaTesting
import Boutique
import Foundation
import Observation
import TestSupport
import Testing

/// Stores on synchronized engines.
@MainActor @Suite struct SyncedStoreTests {
    struct Note: Codable, Sendable, Hashable, Identifiable {
        let id: String
        var title: String
        var folder: String?
    }

    struct Folder: Codable, Sendable, Hashable, Identifiable {
        let id: String
        var count: Int
    }

    private let server = MemoryStorageEngine()

    private func replica(
        _ local: MemoryStorageEngine = MemoryStorageEngine(), _ options: SyncOptions = SyncOptions()
    ) async throws -> StorageSync {
        let server = server
        return try await StorageSync(
            local: { local.collection(named: $0) }, remote: { server.collection(named: $0) }, options: options)
    }

    @Test func `Stores of two replicas show the same`() async throws {
        let (ada, bob) = (try await replica(), try await replica())
        let notes = try await Store<Note>(storage: try await ada.collection(named: "notes"))
        let others = try await Store<Note>(storage: try await bob.collection(named: "notes"))
        try await notes.insert(Note(id: "1", title: "milk"))
        try await ada.settled()
        try await bob.settled()
        while others.items.isEmpty { await change(of: others) }
        #expect(others.items == [Note(id: "1", title: "milk")])
        try await others.update(id: "1") { $0.title = "oat milk" }
        try await bob.settled()
        try await ada.settled()
        while notes.items.first?.title == "milk" { await change(of: notes) }
        #expect(notes.items == [Note(id: "1", title: "oat milk")])
        #expect(ada.status.pending == 0)
    }

    @Test func `Items arrive in the order in which they were inserted`() async throws {
        let ada = try await replica()
        let notes = try await ada.collection(named: "notes")
        var generator = SeededGenerator(seed: Seed.current)
        let keys = (0..<1_500).map { CacheKey("\($0)") }.shuffled(using: &generator)
        await ada.pause()
        try await notes.apply(keys.prefix(1_000).map { .write(key: $0, data: Data("1".utf8)) })
        for key in keys[1_000..<1_200] { try await notes.write(Data("1".utf8), key: key) }
        await ada.resume()
        try await ada.settled()
        let stored = server.collection(named: "notes")
        #expect(try await stored.fetchKeys() == Array(keys.prefix(1_200)))
        // By a snapshot, and then by what has changed.
        let bob = try await replica()
        let copy = try await bob.collection(named: "notes")
        try await bob.settled()
        #expect(try await copy.fetchKeys() == Array(keys.prefix(1_200)))
        await bob.pause()
        // A new item is removed, and inserted again after others.
        try await stored.apply(keys[1_200..<1_300].map { .write(key: $0, data: Data("2".utf8)) })
        try await stored.remove(key: keys[1_200])
        try await stored.apply(keys[1_300...].map { .write(key: $0, data: Data("2".utf8)) })
        try await stored.write(Data("3".utf8), key: keys[1_250])
        try await stored.write(Data("3".utf8), key: keys[1_200])
        await bob.resume()
        try await bob.settled()
        #expect(try await copy.fetchKeys() == Array(keys.prefix(1_200) + keys[1_201...] + [keys[1_200]]))
        #expect(try await copy.fetchKeys() == (try await stored.fetchKeys()))
    }

    private func change(of store: Store<Note>) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = store.items
            } onChange: {
                Task { @MainActor in continuation.resume() }
            }
        }
    }

    @Test func `A transaction over two stores arrives as one`() async throws {
        let (ada, bob) = (try await replica(), try await replica())
        let notes = try await Store<Note>(storage: try await ada.collection(named: "notes"))
        let folders = try await Store<Folder>(storage: try await ada.collection(named: "folders"))
        let otherNotes = try await bob.collection(named: "notes")
        let otherFolders = try await bob.collection(named: "folders")
        try await folders.insert(Folder(id: "f", count: 0))
        for number in 1...10 {
            try await notes.transaction(with: folders) { notes, folders in
                notes.insert(Note(id: "\(number)", title: "note", folder: "f"))
                folders.insert(Folder(id: "f", count: number))
            }
        }
        let seen = Locked(0)
        let watcher = Task {
            for try await _ in otherFolders.changes() {
                let numbers = Locked((notes: 0, count: 0))
                try await bob.atOneMoment {
                    let count = try await otherNotes.fetchCount()
                    let folder = try await otherFolders.fetch(key: CacheKey("f"))
                    let number = try folder.map { try JSONDecoder().decode(Folder.self, from: $0).count } ?? 0
                    numbers.withLock { $0 = (count, number) }
                }
                let (count, number) = numbers.withLock { $0 }
                #expect(count == number)
                seen.withLock { $0 += 1 }
                if number == 10 { return }
            }
        }
        try await ada.settled()
        try await bob.settled()
        try await watcher.value
        #expect(seen.withLock { $0 } > 0)
    }

    /// The folder is in the end as the server has it, but one transaction without the other would be half of both.
    @Test(arguments: [false, true])
    func `Transactions stay together if an item that both have changed is as before`(_ isOnItsWay: Bool) async throws {
        let replica = try await Replica(of: server)
        let notes = try await Store<Note>(storage: replica.notes)
        let folders = try await Store<Folder>(storage: try await replica.sync.collection(named: "folders"))
        try await notes.insert(Note(id: "1", title: "good", folder: "f"))
        try await folders.insert(Folder(id: "f", count: 1))
        try await replica.sync.settled()
        let gate = SyncGate()
        replica.remote.change { script in
            script.beforeApplying = { batch in
                if batch.changes.contains(where: { $0.data?.firstRange(of: Data("bad".utf8)) != nil }) {
                    await gate.pass()
                    throw StorageError(.permissionDenied, "The item is refused.")
                }
            }
        }
        if !isOnItsWay { await replica.sync.pause() }
        try await notes.transaction(with: folders) { notes, folders in
            notes.insert(Note(id: "2", title: "bad", folder: "f"))
            folders.insert(Folder(id: "f", count: 2))
        }
        if isOnItsWay { await gate.arrival() }
        try await notes.transaction(with: folders) { notes, folders in
            notes.remove(id: "1")
            folders.insert(Folder(id: "f", count: 1))
        }
        gate.open()
        await replica.sync.resume()
        try await replica.sync.settled()
        #expect(try await server.collection(named: "notes").fetchKeys() == [CacheKey("1")])
        #expect(try await replica.sync.parked().map(\.key).contains(CacheKey("1")))
        // Both arrive together as soon as they can.
        try await notes.update(id: "2") { $0.title = "good" }
        try await replica.sync.settled()
        #expect(replica.remote.sent.last?.changes.count == 2)
        #expect(try await server.collection(named: "notes").fetchKeys() == [CacheKey("2")])
        #expect(try await replica.sync.parked().isEmpty)
    }

    /// They were parked for good, as more items than the remote database changes together.
    @Test(arguments: [3, 4, 20])
    func `However many transactions have changed an item, all arrive`(_ maximum: Int) async throws {
        let (server, local) = (server, MemoryStorageEngine())
        let sync = try await StorageSync(
            local: { local.collection(named: $0) },
            remote: EngineSyncRemote(maximumItems: maximum) { server.collection(named: $0) })
        let notes = try await Store<Note>(storage: try await sync.collection(named: "notes"))
        let folders = try await Store<Folder>(storage: try await sync.collection(named: "folders"))
        try await sync.settled()
        await sync.pause()
        for number in 1...10 {
            try await notes.transaction(with: folders) { notes, folders in
                notes.insert(Note(id: "\(number)", title: "good", folder: "f"))
                folders.insert(Folder(id: "f", count: number))
            }
        }
        await sync.resume()
        try await sync.settled()
        #expect(try await sync.pending().isEmpty)
        #expect(try await server.collection(named: "notes").fetchCount() == 10)
        let folder = try await server.collection(named: "folders").fetchAllData().first
        #expect(try JSONDecoder().decode(Folder.self, from: try #require(folder)).count == 10)
    }

    /// A transaction that reads nothing is one as well, also through wrappers. Other batches are divided.
    @Test(arguments: [false, true])
    func `A transaction in one collection arrives as one, or not at all`(_ isPrefixed: Bool) async throws {
        let replica = try await Replica(of: server)
        let engine: any StorageEngine = isPrefixed ? replica.notes.prefixed("mine/") : replica.notes
        let notes = ObjectStorage<Note>(storage: engine)
        func key(_ number: Int) -> CacheKey { CacheKey(verbatim: "\(number)") }
        replica.remote.change { script in
            script.beforeApplying = { batch in
                // As a server that refuses an item.
                if batch.changes.contains(where: { $0.data?.firstRange(of: Data("bad".utf8)) != nil }) {
                    throw StorageError(.permissionDenied, "The item is refused.")
                }
            }
        }
        try await engine.transaction { transaction in
            for number in 0..<300 {
                try transaction.store(Note(id: "\(number)", title: "one"), forKey: key(number), in: notes)
            }
        }
        try await replica.sync.settled()
        #expect(Set(replica.remote.sent.map(\.id)).count == 1)
        #expect(replica.remote.sent.first?.changes.count == 300)

        try await engine.transaction { transaction in
            for number in 300..<303 {
                let title = number == 301 ? "bad" : "good"
                try transaction.store(Note(id: "\(number)", title: title), forKey: key(number), in: notes)
            }
        }
        try await replica.sync.settled()
        #expect(try await server.collection(named: "notes").fetchCount() == 300)
        #expect(try await replica.sync.parked().count == 3)
        try await engine.write(
            (303..<306).map { number in
                let note = Note(id: "\(number)", title: number == 304 ? "bad" : "good")
                return (key: key(number), data: try JSONEncoder().encode(note))
            })
        try await replica.sync.settled()
        #expect(try await server.collection(named: "notes").fetchCount() == 302)
    }

    @Test func `Items from before are sent, and merged with those of others`() async throws {
        let local = MemoryStorageEngine()
        try await local.collection(named: "notes").write(Data(#"{"a":1,"b":1}"#.utf8), key: CacheKey("own"))
        try await local.collection(named: "notes").write(Data(#"{"a":1,"b":1}"#.utf8), key: CacheKey("both"))
        let others = server.collection(named: "notes")
        try await others.write(Data(#"{"a":1,"c":2}"#.utf8), key: CacheKey("both"))
        try await others.write(Data(#"{"a":3,"c":3}"#.utf8), key: CacheKey("other"))
        let sync = try await replica(local)
        let notes = try await sync.collection(named: "notes")
        try await sync.settled()
        let expected = ["own": #"{"a":1,"b":1}"#, "both": #"{"a":1,"c":2,"b":1}"#, "other": #"{"a":3,"c":3}"#]
        for (key, text) in expected {
            #expect(try await notes.fetch(key: CacheKey(key)) == Data(text.utf8))
            #expect(try await others.fetch(key: CacheKey(key)) == Data(text.utf8))
        }
        // Opened again, nothing is sent again.
        try await others.remove(key: CacheKey("own"))
        let again = try await replica(local)
        let reopened = try await again.collection(named: "notes")
        try await again.settled()
        #expect(try await reopened.fetch(key: CacheKey("own")) == nil)
        #expect(try await others.fetchCount() == 2)
    }

    @Test func `An outbox survives the end of its program`() async throws {
        let local = MemoryStorageEngine()
        var options = SyncOptions()
        options.startsPaused = true
        do {
            let sync = try await replica(local, options)
            let notes = try await sync.collection(named: "notes")
            for number in 0..<300 { try await notes.write(Data("{}".utf8), key: CacheKey("\(number)")) }
        }
        let others = server.collection(named: "notes")
        #expect(try await others.fetchCount() == 0)
        let sync = try await replica(local)
        _ = try await sync.collection(named: "notes")
        try await sync.settled()
        #expect(try await others.fetchCount() == 300)
    }

    @Test func `Properties of a newer version of the app are kept`() async throws {
        let others = server.collection(named: "notes")
        let stored = #"{"id":"1","title":"milk","color":"red","tags":["a"]}"#
        try await others.write(Data(stored.utf8), key: CacheKey("1"))
        let sync = try await replica()
        let engine = try await sync.collection(named: "notes", preserving: Note.self)
        try await sync.settled()
        let notes = try await Store<Note>(storage: engine)
        try await notes.update(id: "1") { $0.title = "oat milk" }
        try await sync.settled()
        let data = try #require(try await others.fetch(key: CacheKey("1")))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["title"] as? String == "oat milk")
        #expect(object["color"] as? String == "red")
        #expect(object["tags"] as? [String] == ["a"])
    }

    @Test func `A token that has expired is renewed, and everything goes on`() async throws {
        let isValid = Locked(true)
        let server = server
        var options = SyncOptions()
        let renewals = Locked(0)
        options.reauthorize = {
            renewals.withLock { $0 += 1 }
            isValid.withLock { $0 = true }
            return true
        }
        let remote = ScriptedRemote(server)
        remote.change { $0.check(isValid) }
        let local = MemoryStorageEngine()
        let sync = try await StorageSync(
            local: { local.collection(named: $0) }, remote: remote, options: options)
        let notes = try await sync.collection(named: "notes")
        try await sync.settled()
        isValid.withLock { $0 = false }
        try await notes.write(Data("{}".utf8), key: CacheKey("1"))
        try await sync.settled()
        #expect(try await server.collection(named: "notes").fetchCount() == 1)
        #expect(renewals.withLock { $0 } >= 1)
        #expect(!sync.status.needsCredentials)
    }

    @Test func `A pull does not remove what a collection had before it is in the outbox`() async throws {
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

    /// A counter whose parts different devices change.
    struct Tally: Codable, Sendable, Hashable, Identifiable {
        let id: String
        var n = 0
        var m = 0
    }

    @Test(arguments: ["update", "transaction"])
    func `What a pull brings while a store changes the item is kept`(_ method: String) async throws {
        let (ada, bob) = (try await replica(), try await replica())
        let stores = [
            try await Store<Tally>(storage: try await ada.collection(named: "tallies")),
            try await Store<Tally>(storage: try await bob.collection(named: "tallies")),
        ]
        try await stores[0].insert(Tally(id: "1"))
        try await ada.settled()
        try await bob.settled()
        while stores[1].items.isEmpty { await Task.yield() }
        let rounds = 60
        let writers = [0, 1].map { number in
            Task { @MainActor in
                let store = stores[number]
                let change: @MainActor (inout Tally) -> Void = { if number == 0 { $0.n += 1 } else { $0.m += 1 } }
                for _ in 0..<rounds {
                    if method == "update" {
                        try await store.update(id: "1", change)
                    } else {
                        try await store.transaction { try $0.update(id: "1", change) }
                    }
                    // Lets pulls come between.
                    for _ in 0..<Int.random(in: 0..<50) { await Task.yield() }
                }
            }
        }
        for writer in writers { try await writer.value }
        for sync in [ada, bob, ada] { try await sync.settled() }
        let stored = try await server.collection(named: "tallies").fetch(key: CacheKey("1"))
        #expect(
            try JSONDecoder().decode(Tally.self, from: try #require(stored)) == Tally(id: "1", n: rounds, m: rounds))
        #expect(try await ada.conflicts().isEmpty)
        #expect(try await bob.conflicts().isEmpty)
    }
}
