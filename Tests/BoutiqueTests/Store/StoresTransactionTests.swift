import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import Boutique

/// Transactions over several stores of one database.
@MainActor
@Suite
struct StoresTransactionTests {

    private struct Refusal: Error {}

    /// Opens collections of a database in memory, or in a file.
    private static func open(
        _ isFile: Bool, in folder: TemporaryFolder
    ) throws -> (String) throws -> any StorageBackend {
        if !isFile {
            let engine = MemoryStorageEngine()
            return { engine.collection(named: $0) }
        }
        let engine = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        return { try engine.collection(named: $0) }
    }

    private static let keyset = EncryptionKeyset()

    private static let wrappers: [(name: String, wrap: (any StorageBackend) -> any StorageBackend)] = [
        ("none", { $0 }), ("cached", { $0.cached(count: 100) }), ("prefixed", { $0.prefixed("notes") }),
        ("encrypted", { $0.encrypted(with: keyset) }), ("logged", { $0.logged(by: Logger(label: "tests")) }),
        ("retrying", { $0.retrying() }), ("expiring", { $0.expiring(after: .seconds(1_000)) }),
        ("nested", { $0.encrypted(with: keyset).cached(count: 10).retrying() }),
    ]

    @Test("An item moves between the stores of any wrappers, in memory and in the file", arguments: [false, true])
    func moving(_ isFile: Bool) async throws {
        let folder = TemporaryFolder()
        let open = try Self.open(isFile, in: folder)
        for (number, left) in Self.wrappers.enumerated() {
            let right = Self.wrappers[(number + 3) % Self.wrappers.count]
            let engines = (left.wrap(try open("\(number) left")), right.wrap(try open("\(number) right")))
            let drafts = try await Store<Note>(storage: engines.0)
            let notes = try await Store<Note>(storage: engines.1)
            try await drafts.insert([Note(id: "a", text: "draft"), Note(id: "b")])
            let moved = try await drafts.transaction(with: notes) { drafts, notes -> String in
                let draft = try #require(drafts["a"])
                notes.insert(draft)
                drafts.remove(draft)
                #expect(drafts["a"] == nil && notes["a"] == draft)
                return draft.text
            }
            #expect(moved == "draft")
            #expect(drafts.items.map(\.id) == ["b"], "\(left.name), \(right.name)")
            #expect(notes.items.map(\.id) == ["a"], "\(left.name), \(right.name)")
            #expect(try await storedNotes(in: engines.0) == drafts.items)
            #expect(try await storedNotes(in: engines.1) == notes.items)
            // The stores follow what was written.
            try await notes.update(id: "a") { $0.count = 1 }
            try await drafts.removeAll()
            #expect(try await storedNotes(in: engines.1).map(\.count) == [1])
            #expect(drafts.items.isEmpty)
        }
    }

    @Test(
        "Three and four stores change together, and a failed transaction changes none of them",
        arguments: [false, true])
    func several(_ isFile: Bool) async throws {
        let folder = TemporaryFolder()
        let open = try Self.open(isFile, in: folder)
        var stores: [Store<Note>] = []
        for number in 0..<4 { stores.append(try await Store<Note>(storage: try open("\(number)"))) }
        try await stores[0].transaction(with: stores[1], stores[2]) { first, second, third in
            first.insert(Note(id: "a"))
            second.insert(Note(id: "b"))
            third.insert(Note(id: "c"))
        }
        try await stores[3].transaction(with: stores[2], stores[1], stores[0]) { own, third, second, first in
            own.insert(first.items + second.items + third.items)
            third.removeAll()
        }
        #expect(stores.map { $0.items.map(\.id) } == [["a"], ["b"], [], ["a", "b", "c"]])
        await #expect(throws: Refusal.self) {
            try await stores[0].transaction(with: stores[1]) { first, second in
                first.removeAll()
                second.removeAll()
                throw Refusal()
            }
        }
        // JSON has no infinite numbers.
        let error = await #expect(throws: StorageError.self) {
            try await stores[0].transaction(with: stores[1]) { first, second in
                first.removeAll()
                second.insert(Note(id: "x", weight: .infinity))
            }
        }
        #expect(error?.code == .encodingFailed)
        #expect(stores.map { $0.items.map(\.id) } == [["a"], ["b"], [], ["a", "b", "c"]])
        for (number, store) in stores.enumerated() {
            #expect(try await storedNotes(in: open("\(number)")) == store.items)
        }
    }

    @Test("Stores of different databases, and the same store twice, are refused")
    func refusals() async throws {
        let folder = TemporaryFolder()
        let memory = MemoryStorageEngine()
        let store = try await Store<Note>(storage: memory)
        let others: [any StorageEngine] = [
            MemoryStorageEngine(), try DiskStorageEngine(opening: folder.directory), memory.limited(count: 10),
            AnyStorageEngine(base: memory.collection(named: "a")),
        ]
        for engine in others {
            let other = try await Store<Note>(storage: engine)
            let error = await #expect(throws: StorageError.self) {
                try await store.transaction(with: other) { own, other in
                    own.insert(Note(id: "a"))
                    other.insert(Note(id: "a"))
                }
            }
            #expect(error?.code == .invalidArgument)
            #expect(other.items.isEmpty)
        }
        let error = await #expect(throws: StorageError.self) {
            try await store.transaction(with: store) { own, other in own.insert(Note(id: "a")) }
        }
        #expect(error?.code == .invalidArgument)
        #expect(store.items.isEmpty)
    }

    @Test("Records that can't be decoded stay stored", arguments: [false, true])
    func undecodable(_ isFile: Bool) async throws {
        let folder = TemporaryFolder()
        let open = try Self.open(isFile, in: folder)
        let damaged = Data("no note".utf8)
        try await open("left").write(damaged, key: CacheKey("x"))
        let left = try await Store<Note>(storage: try open("left"))
        let right = try await Store<Note>(storage: try open("right"))
        #expect(left.undecodable.map(\.key) == [CacheKey("x")])
        try await left.transaction(with: right) { left, right in
            left.insert(Note(id: "a"))
            right.insert(Note(id: "b"))
        }
        try await left.transaction(with: right) { left, right in
            right.insert(left.items)
            left.removeAll()
        }
        #expect(try await open("left").fetchAll().map(\.data) == [damaged])
        #expect(left.undecodable.map(\.key) == [CacheKey("x")])
        #expect(left.items.isEmpty)
        #expect(right.items.map(\.id) == ["b", "a"])
        #expect(try await storedNotes(in: open("right")) == right.items)
    }

    @Test("What the closure reads is the state in which it writes")
    func conflicts() async throws {
        let folder = TemporaryFolder()
        let open = try Self.open(true, in: folder)
        let (left, right) = (
            try await Store<Note>(storage: try open("left")), try await Store<Note>(storage: try open("right"))
        )
        try await left.insert(Note(id: "a", count: 1))
        // Another process.
        let other = try SQLiteStorageEngine(opening: folder.directory, durability: .relaxed)
        let foreign = ObjectStorage<Note>(storage: try other.collection(named: "left"))
        let writes = PlannedAction()
        let engine = Interrupted(base: try open("right"), before: writes)
        let interrupted = try await Store<Note>(storage: engine)
        writes.plan { try await foreign.update(forKey: CacheKey("a")) { $0.count = 10 } }
        var seen: [Int?] = []
        try await left.transaction(with: interrupted) { left, right in
            seen.append(left["a"]?.count)
            right.insert(Note(id: "b", count: left["a"]?.count ?? 0))
        }
        #expect(seen == [1, 10])
        #expect(left["a"]?.count == 10)
        #expect(interrupted["b"]?.count == 10)
        #expect(right["b"]?.count == 10)
    }

    /// An engine in which another program writes before the next write.
    private struct Interrupted: ForwardingStorageEngine {
        let base: any StorageBackend
        let before: PlannedAction

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            if case .apply = call { try await before.take()?() }
            return try await body()
        }
    }

    @Test("A write of unknown outcome is shown as it is stored", arguments: [false, true])
    func unknownOutcome(_ wasApplied: Bool) async throws {
        let memory = MemoryStorageEngine()
        let failing = Locked(true)
        let engine = Lossy(base: memory.collection(named: "right"), failing: failing, wasApplied: wasApplied)
        let (left, right) = (
            try await Store<Note>(storage: memory.collection(named: "left")), try await Store<Note>(storage: engine)
        )
        try await left.insert(Note(id: "a"))
        let error = await #expect(throws: StorageError.self) {
            try await left.transaction(with: right) { left, right in
                left.remove(id: "a")
                right.insert(Note(id: "a"))
            }
        }
        #expect(error?.code == .unreachable)
        #expect(left.items.map(\.id) == (wasApplied ? [] : ["a"]))
        #expect(right.items.map(\.id) == (wasApplied ? ["a"] : []))
        try await left.insert(Note(id: "b"))
        #expect(try await storedNotes(in: memory.collection(named: "left")) == left.items)
        #expect(try await storedNotes(in: memory.collection(named: "right")) == right.items)
    }

    /// An engine whose answer is lost once.
    private struct Lossy: ForwardingStorageEngine {
        let base: any StorageBackend
        let failing: Locked<Bool>
        let wasApplied: Bool

        func forward<Value: StorageAnswerValue>(
            _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
        ) async throws -> StorageAnswer<Value> {
            guard case .apply = call, failing.withLock({ $0.take() }) else { return try await body() }
            if wasApplied { _ = try await body() }
            throw StorageError(.unreachable, "The answer was lost.")
        }
    }
}

extension Bool {
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}
