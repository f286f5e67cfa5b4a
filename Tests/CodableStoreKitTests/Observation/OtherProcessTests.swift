import Bodega
import BodegaTesting
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Observers of an SQLite file that another process changes.
@Suite struct OtherProcessTests {

    private let folder = TemporaryFolder()

    private var store: CodableStore<Letter> { CodableStore(engine: .sqlite(in: folder.directory)) }

    /// The other process, which executes commands.
    private final class Other {
        let input = Pipe.separate()
        let child: Child

        convenience init(_ folder: TemporaryFolder) throws {
            try self.init(path: folder.path)
        }

        init(path: String) throws {
            child = try Child(["edit-letters", path], input: input)
        }

        func run(_ line: String) async throws {
            try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
            #expect(await child.nextLine() == "done")
        }
    }

    private func shown(_ event: CodableStore<Letter>.ObserveEvent?) -> String? {
        switch event {
        case .saved(let letter, _, _): "saved \(letter.id) \(letter.text)"
        case .deleted(let letter, _, _): "deleted \(letter.id) \(letter.text)"
        case nil: nil
        }
    }

    @Test("Observers continue with a database that replaces theirs, even if this process does not use it")
    func replacedFile() async throws {
        let (place, aside) = (folder.file("place"), folder.file("aside"))
        do {
            let other = try Other(path: aside.path)
            try await other.run("save a there")
            try other.input.fileHandleForWriting.close()
            _ = await other.child.lines()
        }
        let store = CodableStore<Letter>(engine: .sqlite(in: FileManager.Directory(url: place)))
        try store.save(Letter(id: "own", text: "here"))
        let events = store.events()
        let name = "CodableStoreKit.sqlite3"
        for suffix in ["", "-wal", "-shm"] {
            let old = place.appendingPathComponent(name + suffix)
            if FileManager.default.fileExists(atPath: old.path) { try FileManager.default.removeItem(at: old) }
        }
        // The database itself comes last, because a process that waits for it opens it together with its companion
        // files.
        for suffix in ["-wal", ""] {
            let new = aside.appendingPathComponent(name + suffix)
            if FileManager.default.fileExists(atPath: new.path) {
                try FileManager.default.moveItem(at: new, to: place.appendingPathComponent(name + suffix))
            }
        }

        let isNotified = Locked(false)
        let first = Task {
            var events = events.makeAsyncIterator()
            defer { isNotified.withLock { $0 = true } }
            return await events.next()
        }
        let other = try Other(path: place.path)
        // Changes made before the observers notice the new database are not reported.
        while !isNotified.withLock({ $0 }) { try await other.run("save b there") }
        #expect(shown(await first.value) == "saved b there")
        #expect(try store.getCollection().map(\.id).sorted() == ["a", "b"])
    }

    @Test("Observers are notified once of each object that another process saves or deletes")
    func observing() async throws {
        let other = try Other(folder)
        try store.save(Letter(id: "own", text: "here"))
        var all = store.events().makeAsyncIterator()
        var one = store.events(identifier: "a").makeAsyncIterator()
        var some = store.events(where: { $0.text == "there" }).makeAsyncIterator()
        try await other.run("save a there")
        #expect(shown(await all.next()) == "saved a there")
        #expect(shown(await one.next()) == "saved a there")
        #expect(shown(await some.next()) == "saved a there")
        try store.save(Letter(id: "a", text: "here"))
        #expect(shown(await all.next()) == "saved a here")
        #expect(shown(await one.next()) == "saved a here")
        try await other.run("save a there")
        #expect(shown(await all.next()) == "saved a there")
        // Saving an equal object is a change, too.
        try await other.run("save a there")
        #expect(shown(await all.next()) == "saved a there")
        try await other.run("delete own")
        #expect(shown(await all.next()) == "deleted own here")
        try await other.run("delete a")
        #expect(shown(await all.next()) == "deleted a there")
        for _ in 0..<2 { #expect(shown(await one.next()) == "saved a there") }
        #expect(shown(await one.next()) == "deleted a there")
        for _ in 0..<2 { #expect(shown(await some.next()) == "saved a there") }
        #expect(shown(await some.next()) == "deleted a there")
    }

    @Test("The file has no change log before the first observation")
    func price() async throws {
        try store.save(Letter(id: "a"))
        let file = folder.file("CodableStoreKit.sqlite3")
        let collection = try #require(await SQLiteStorageEngine(openingFile: file).collectionNames().first)
        func isFollowed() async throws -> Bool {
            let engine = try SQLiteStorageEngine(readingFile: file, collection: collection)
            defer { withExtendedLifetime(engine) {} }
            do {
                _ = try await engine.fetchCursor()
                return true
            } catch let error as StorageError where error.code == .readOnly {
                return false
            }
        }
        #expect(try await !isFollowed())
        store.observeCollection { _ in }.unsubscribe()
        #expect(try await isFollowed())
    }

    @Test("Applying the events of random changes by two processes reproduces the collection")
    func random() async throws {
        let seed = Seed.current
        print("observers and another process: EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        var events = store.events().makeAsyncIterator()
        let other = try Child("save-letters", "sqlite", folder.path, "theirs", "40")
        var copy: [String: Letter] = [:]
        var counts: [String: Int] = [:]
        func take() async {
            switch await events.next() {
            case .saved(let letter, _, _):
                copy[letter.id] = letter
                counts[letter.id, default: 0] += 1
            case .deleted(let letter, _, _): copy[letter.id] = nil
            case nil: Issue.record("The events have ended.")
            }
        }
        for round in 0..<100 {
            let theirs = "theirs-\(Int.random(in: 0..<4, using: &random))-\(Int.random(in: 0..<40, using: &random))"
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try store.save(Letter(id: theirs, text: "ours \(round)"))
            case 1: _ = try? store.delete(identifier: theirs)
            default: try store.save(Letter(id: "ours-\(round)"))
            }
        }
        let lines = await other.lines()
        #expect(lines.last == "done", "EMPORIUM_SEED=\(seed)")
        func stored() throws -> [String: Letter] {
            Dictionary(uniqueKeysWithValues: try store.getCollection().map { ($0.id, $0) })
        }
        let end = try stored()
        while copy != end { await take() }
        // The other process saves each of these once, and this process saves none.
        for id in end.keys where id.hasSuffix("-a") || id.hasSuffix("-b") {
            #expect(counts[id] == 1, "EMPORIUM_SEED=\(seed): \(id)")
        }
    }

    @MainActor
    @Test("A controller shows the changes of another process")
    func controller() async throws {
        let other = try Other(folder)
        try store.save(Letter(id: "own"))
        let controller = LetterController(store)
        #expect(controller.codableStoreables.map(\.id) == ["own"])
        try await other.run("save theirs there")
        for await _ in controller.changes { if controller.codableStoreables.count == 2 { break } }
        #expect(controller.codableStoreables.map(\.id) == ["own", "theirs"])
        try await other.run("delete own")
        for await _ in controller.changes { if controller.codableStoreables.count == 1 { break } }
        #expect(controller.codableStoreables == [Letter(id: "theirs", text: "there")])
    }

    private final class LetterController: CodableStoreControllerable {
        let codableStore: CodableStore<Letter>
        let subscriptionBag = ObserverableCodableStoreSubscriptionBag()
        let changes: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init(_ store: CodableStore<Letter>) {
            codableStore = store
            (changes, continuation) = AsyncStream.makeStream()
            observeCodableStoreables()
        }

        func codableStoreablesDidUpdate(event: CodableStore<Letter>.ObserveEvent, codableStoreables: [Letter]) {
            continuation.yield()
        }
    }
}
