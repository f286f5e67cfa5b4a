@testable import Bodega
import Boutique
import Foundation
import TestSupport
import Testing

@MainActor
@Suite struct DefaultEngineTests {

    @Test("A store whose default file can't be opened is not empty, and loads when the file is restored")
    func reload() async throws {
        let folder = TemporaryFolder()
        let file = folder.file("data.sqlite3")
        let first = try SQLiteStorageEngine(opening: folder.directory)
        try await Store<Note>(storage: first).insert(Note(id: "a"))
        try await first.close()
        let sound = try Data(contentsOf: file)
        try Data(repeating: 7, count: 4096).write(to: file)

        let engine = SQLiteStorageEngine.openedOrOpening(in: folder.directory)
        let (core, store) = (engine.core, Self.syncStore(engine))
        await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        #expect((store.state.error as? StorageError)?.code == .damaged)
        await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b")) }

        // Not at once, as a copy command does it. The store, which follows the file's changes, must not open it yet.
        let copy = try FileHandle(forWritingTo: file)
        try copy.truncate(atOffset: 0)
        core.watch.check()
        try copy.write(contentsOf: sound)
        try copy.close()
        try await store.reload()
        #expect(store.items.map(\.id) == ["a"])
        var events = store.events.makeAsyncIterator()
        _ = await events.next()
        try await SQLiteStorageEngine(opening: folder.directory).write(
            JSONEncoder().encode(Note(id: "c")), key: CacheKey("c"))
        #expect(await events.next()?.insertedIDs == ["c"])
    }

    private static func syncStore(_ engine: SQLiteStorageEngine) -> Store<Note> {
        Store(storage: engine)
    }
}
