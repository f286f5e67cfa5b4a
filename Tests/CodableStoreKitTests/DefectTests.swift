import Bodega
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CodableStoreKit

/// Defect 14 of the known defects of the original library.
@Suite struct DefectTests {

    private let folder = TemporaryFolder()

    @Test("Defect 14: objects saved by one process are found by the next", arguments: ["files", "sqlite"])
    func relaunch(kind: String) async throws {
        let output = await (try Child("save-letters", kind, folder.path, "p", "3")).lines()
        #expect(output.last == "done")
        let expected = Set(
            (0..<4).flatMap { writer in
                (0..<3).flatMap { ["p-\(writer)-\($0)", "p-\(writer)-\($0)-a", "p-\(writer)-\($0)-b"] }
            }
        ).subtracting((0..<4).map { "p-\($0)-0" })
        #expect(Set(await (try Child("list-letters", kind, folder.path)).lines()) == expected)
        let store = CodableStore<Letter>(
            engine: kind == "sqlite" ? .sqlite(in: folder.directory) : .fileSystem(in: folder.directory))
        for id in expected { #expect(try store.get(identifier: id).id == id) }
    }

    enum One {
        struct Item: CodableStoreable, Sendable {
            let id: Int, one: Int
            static var codableStoreIdentifier: KeyPath<Item, Int> { \.id }
        }
    }
    enum Two {
        struct Item: CodableStoreable, Sendable {
            let id: Int, two: Int
            static var codableStoreIdentifier: KeyPath<Item, Int> { \.id }
        }
    }

    @Test("Defect 14: two nested types with the same name have different collections", arguments: EngineKind.ofRecords)
    func nestedTypes(kind: EngineKind) throws {
        let ones = CodableStore<One.Item>(engine: try kind.engine(in: folder))
        let twos = CodableStore<Two.Item>(engine: try kind.engine(in: folder))
        try ones.save(One.Item(id: 1, one: 1))
        try twos.save(Two.Item(id: 1, two: 2))
        #expect(try ones.fetchCollection().undecodable.isEmpty && ones.getCollection().map(\.one) == [1])
        #expect(try twos.fetchCollection().undecodable.isEmpty && twos.getCollection().map(\.two) == [2])
    }

    private struct Nameless: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Nameless, Int> { \.id }
        let id: Int
    }

    @Test("Defect 14: a private or local type must name its collection", arguments: EngineKind.ofRecords)
    func privateTypes(kind: EngineKind) throws {
        struct Local: CodableStoreable, Sendable {
            static var codableStoreIdentifier: KeyPath<Local, Int> { \.id }
            let id: Int
        }
        let privates = CodableStore<Nameless>(engine: try kind.engine(in: folder))
        let locals = CodableStore<Local>(engine: try kind.engine(in: folder))
        #expect { try privates.save(Nameless(id: 1)) } throws: { ($0 as? StorageError)?.code == .ambiguousCollection }
        #expect { try locals.save(Local(id: 1)) } throws: { ($0 as? StorageError)?.code == .ambiguousCollection }
        #expect(try folder.names().isEmpty)
    }

    private struct Entry: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<Entry, String> { \.id }
        let id: String
        static var codableStoreCollectionName: String { "A" }
    }
    private struct LongerEntry: CodableStoreable, Sendable {
        static var codableStoreIdentifier: KeyPath<LongerEntry, String> { \.id }
        let id: String
        static var codableStoreCollectionName: String { "AB" }
    }

    @Test(
        "Defect 14: a collection whose name is a prefix of another's does not contain that one's objects",
        arguments: EngineKind.ofRecords)
    func prefixes(kind: EngineKind) throws {
        let memory = CodableStoreLocation.memory()
        let short = CodableStore<Entry>(engine: kind == .memory ? .at(memory) : try kind.engine(in: folder))
        let long = CodableStore<LongerEntry>(engine: kind == .memory ? .at(memory) : try kind.engine(in: folder))
        try long.save(LongerEntry(id: "1"))
        #expect(try short.getCollection().isEmpty)
        try short.save(Entry(id: "B1"))
        try short.deleteCollection()
        #expect(try long.getCollection().map(\.id) == ["1"])
    }

    /// An object with coders of Foundation.
    private struct Plain: CodableStoreable, Equatable, Sendable {
        static var codableStoreIdentifier: KeyPath<Plain, String> { \.id }
        static var codableStoreCollectionName: String { "Plain" }
        static var codableStoreCoder: Coder { (JSONEncoder(), JSONDecoder()) }
        let id: String
    }

    @Test("A damaged file at which Foundation's decoder crashes is reported")
    func bracketAtTheEnd() throws {
        let store = CodableStore<Plain>(engine: .fileSystem(in: folder.directory))
        store.save([Plain(id: "a"), Plain(id: "b")])
        let file = folder.file("Default/Plain/a")
        #expect(FileManager.default.fileExists(atPath: file.path))
        try Data(repeating: UInt8(ascii: "["), count: 513).write(to: file)
        #expect(try store.fetchCollection().objects == [Plain(id: "b")])
        #expect(throws: StorageError.self) { try store.get(identifier: "a") }
    }

    @Test("Defect 14: an undecodable file is reported with its path and key, stays, and does not hide others")
    func undecodable() throws {
        let store = CodableStore<Listed>(engine: .fileSystem(in: folder.directory))
        store.save([Listed(id: "a", number: 1), Listed(id: "b", number: 2)])
        let file = folder.file("Default/Listed/a")
        try Data("?".utf8).write(to: file)

        let found = try store.fetchCollection()
        #expect(found.objects == [Listed(id: "b", number: 2)])
        #expect(found.undecodable.map(\.key?.rawValue) == ["a"])
        #expect(found.undecodable.map(\.file?.standardizedFileURL) == [file.standardizedFileURL])
        #expect(try store.getCollection().count == 1)
        #expect(store.exists(identifier: "a"))
        for operation in [{ _ = try store.get(identifier: "a") }, { _ = try store.delete(identifier: "a") }] {
            #expect { try operation() } throws: { error in
                let error = error as? StorageError
                return error?.code == .decodingFailed && error?.file?.lastPathComponent == "a"
            }
        }
        #expect(try store.deleteCollection().compactMap(\.object?.id) == ["b"])
        #expect(try Data(contentsOf: file) == Data("?".utf8))
        try store.save(Listed(id: "a", number: 3))
        #expect(try store.getCollection() == [Listed(id: "a", number: 3)])
        // The replaced file is kept, because it may still be repaired.
        let kept = try #require(try store.fetchCollection().undecodable.first?.file)
        #expect(try Data(contentsOf: kept) == Data("?".utf8))
        try store.save(Listed(id: "a", number: 4))
        #expect(try store.fetchCollection().undecodable.count == 1)
    }

    @Test(
        "An undecodable record is forgotten when a full read finds it decodable or gone", arguments: [true, false])
    func undecodableNoMore(withKeys: Bool) throws {
        let store = CodableStore<Listed>(engine: .fileSystem(in: folder.directory))
        store.save((0..<3).map { Listed(id: "\($0)", number: $0) })
        let good = try Data(contentsOf: folder.file("Default/Listed/0"))
        for name in ["0", "1", "2"] { try Data("?".utf8).write(to: folder.file("Default/Listed/\(name)")) }
        let objects = try #require(try store.collection() as? RecordObjects<Listed>)
        let keys = ["0", "1", "2"].map { objects.records.key($0) }
        _ = try store.fetchCollection()
        #expect(objects.core.undecodable(among: keys) == Set(keys))

        try good.write(to: folder.file("Default/Listed/0"))
        try FileManager.default.removeItem(at: folder.file("Default/Listed/1"))
        if withKeys { _ = try store.fetchCollection() } else { _ = try store.getCollection() }
        #expect(objects.core.undecodable(among: keys) == [keys[2]])
        // A note made during a full read may be newer than what was read.
        objects.core.readingAll { objects.core.noteUndecodable(keys[0]) }
        #expect(objects.core.undecodable(among: keys) == [keys[0]])
        try good.write(to: folder.file("Default/Listed/2"))
        if withKeys { _ = try store.fetchCollection() } else { _ = try store.getCollection() }
        #expect(objects.core.undecodable(among: keys) == [])
    }

    @Test("Defect 14: objects saved concurrently by many threads are all stored", arguments: EngineKind.allCases)
    func concurrentSaves(kind: EngineKind) throws {
        let engine: CodableStore<Note>.Engine = try kind.engine(in: folder)
        let threads = 8
        let each = 25
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let store = CodableStore<Note>(engine: engine)
            for number in 0..<each {
                do {
                    try store.save(Note(id: thread * each + number, text: "\(thread)"))
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        let found = try CodableStore<Note>(engine: engine).getCollection()
        #expect(Set(found.map(\.id)) == Set(0..<threads * each))
    }

    @Test("Defect 14: if several threads delete one object, one of them receives it", arguments: EngineKind.allCases)
    func concurrentDeletions(kind: EngineKind) throws {
        let store = CodableStore<User>(engine: try kind.engine(in: folder))
        for _ in 0..<10 {
            try store.save(User(1))
            let winners = Locked(0)
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                do {
                    try store.delete(identifier: "1")
                    winners.withLock { $0 += 1 }
                } catch let error as StorageError where error.code == .notFound {
                    // Expected for all threads but one.
                } catch {
                    winners.withLock { $0 += 100 }
                }
            }
            #expect(winners.withLock { $0 } == 1)
        }
    }

    @Test(
        "Objects saved concurrently by two processes and several threads of this one are all stored",
        arguments: ["files", "sqlite"])
    func twoProcesses(kind: String) async throws {
        let children = try ["p", "q"].map { try Child("save-letters", kind, folder.path, $0, "10") }
        let engine: CodableStore<Letter>.Engine =
            kind == "sqlite" ? .sqlite(in: folder.directory) : .fileSystem(in: folder.directory)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    for number in 0..<20 {
                        let result = CodableStore<Letter>(engine: engine).save([Letter(id: "here-\(thread)-\(number)")])
                        #expect(result[0].error == nil)
                    }
                }
            }
            for child in children { group.addTask { #expect(await child.lines().last == "done") } }
        }
        // A child's threads save three objects in each of ten rounds and delete four.
        let ids = try CodableStore<Letter>(engine: engine).getCollection().map(\.id)
        let expected: Int = 2 * 4 * (30 - 4) + 4 * 20
        #expect(ids.count == expected)
        #expect(Set(ids).count == ids.count)
    }
}
