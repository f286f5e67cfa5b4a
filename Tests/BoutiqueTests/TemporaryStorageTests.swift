import BodegaTestSupport
import BodegaTesting
import Boutique
import CodableStoreKit
import Foundation
import TestSupport
import Testing

/// Temporary storage in place of the default one.
@Suite struct TemporaryStorageTests {

    private struct Note: Codable, Sendable, Equatable, Identifiable, CodableStoreable {
        static let codableStoreCollectionName = "notes"
        static var codableStoreIdentifier: KeyPath<Note, String> { \.id }
        var id: String
    }

    /// An app that names none of its storage.
    private struct App: Sendable {
        let name = StoredValue(key: "TemporaryStorageTests", default: "new")
        let token = SecurelyStoredValue<String>(key: "TemporaryStorageTests")
        let rows = SQLiteStorageEngine.default
        let others = SQLiteStorageEngine.default(appendingPath: "Others")
        let files = DiskStorageEngine(directory: .documents(appendingPath: "Files"))
        let cached = DiskStorageEngine(directory: .caches(appendingPath: "Files"))
        let brief = DiskStorageEngine(directory: .temporary(appendingPath: "Files"))
        let shared = DiskStorageEngine(
            directory: .sharedContainer(forAppGroupIdentifier: "group.notes", appendingPath: "Files"))
        let notes = CodableStore<Note>()
        let table = CodableStore<Note>(engine: .sqlite)
        let memory = CodableStore<Note>(engine: .inMemory)

        var engines: [any StorageEngine] { [rows, others, files, cached, brief, shared] }
        var stores: [CodableStore<Note>] { [notes, table, memory] }

        /// Everything that is stored, one entry for each place.
        func contents() async throws -> [String] {
            var contents = [name.wrappedValue, token.wrappedValue ?? "none"]
            for engine in engines { contents.append(try await engine.fetchKeys().map(\.value).joined()) }
            for store in stores { contents.append(try store.getCollection().map(\.id).joined()) }
            return contents
        }

        func store(_ text: String) async throws {
            name.set(text)
            try token.set(text)
            for engine in engines { try await engine.write(Data(text.utf8), key: CacheKey(verbatim: text)) }
            for store in stores { try store.save(Note(id: text)) }
        }
    }

    /// Lets tasks continue when all have arrived.
    private actor Meeting {
        private var missing: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(of count: Int) { missing = count }

        func arrive() async {
            missing -= 1
            if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
            for continuation in waiting { continuation.resume() }
        }
    }

    private static let nothing = ["new", "none"] + Array(repeating: "", count: 9)

    @Test("Concurrent users have folders, values, secrets and memory of their own, which stay until the end")
    func concurrently() async throws {
        let meeting = Meeting(of: 8)
        let folders = try await withThrowingTaskGroup(of: URL.self) { group in
            for user in 0..<8 {
                group.addTask {
                    try await TemporaryStorage.use {
                        #expect(try await App().contents() == Self.nothing)
                        try await App().store("user \(user)")
                        await meeting.arrive()
                        // A relaunch, also in a task of its own and on another thread.
                        #expect(try await App().contents() == Array(repeating: "user \(user)", count: 11))
                        let inTask = try await Task { try await App().contents() }.value
                        #expect(inTask == Array(repeating: "user \(user)", count: 11))
                        let app = App()
                        let onThread = await withCheckedContinuation { continuation in
                            Thread { continuation.resume(returning: Result { try app.memory.getCollection() }) }.start()
                        }
                        #expect(try onThread.get().map(\.id) == ["user \(user)"])
                        let folder = FileManager.Directory.defaultStorageDirectory(appendingPath: "").url
                        #expect(FileManager.default.fileExists(atPath: folder.path))
                        return folder
                    }
                }
            }
            return try await group.reduce(into: Set<URL>()) { $0.insert($1) }
        }
        #expect(folders.count == 8)
        for folder in folders { #expect(!isFolder(folder)) }
    }

    @Test("A use within a use has storage of its own, also a synchronous one")
    func nested() async throws {
        try await TemporaryStorage.use {
            try await App().store("outer")
            let inner = try await TemporaryStorage.use { try await App().contents() }
            #expect(inner == Self.nothing)
            TemporaryStorage.use {
                let value = StoredValue(key: "TemporaryStorageTests", default: "new")
                #expect(value.wrappedValue == "new")
                value.set("inner")
            }
            #expect(try await App().contents() == Array(repeating: "outer", count: 11))
        }
    }

    @Test("The storage is removed when the closure throws, and later writes fail")
    func afterwards() async throws {
        var engine: SQLiteStorageEngine?
        await #expect(throws: CancellationError.self) {
            try await TemporaryStorage.use {
                engine = SQLiteStorageEngine.default(appendingPath: "Notes")
                try await engine?.write(Data([1]), key: CacheKey("a"))
                throw CancellationError()
            }
        }
        let late = try #require(engine)
        #expect(!FileManager.default.fileExists(atPath: late.file.path))
        let error = await #expect(throws: StorageError.self) { try await late.write(Data([2]), key: CacheKey("b")) }
        #expect(error?.code == .placeRemoved)
        #expect(error?.message.contains("another test") == true)
    }

    private func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    @Test("What was created in a test and is used in a later one does not read or write anything")
    func staticProperties() async throws {
        let (app, first) = try await TemporaryStorage.use {
            let app = App()
            try await app.store("first")
            #expect(try await app.contents() == Array(repeating: "first", count: 11))
            return (app, FileManager.Directory.defaultStorageDirectory(appendingPath: "").url)
        }
        try await TemporaryStorage.use { () async throws -> Void in
            #expect(app.name.wrappedValue == "new")
            app.name.set("second")
            #expect(app.name.lastError?.code == .placeRemoved)
            #expect(app.name.wrappedValue == "new")
            #expect(app.token.wrappedValue == nil)
            #expect(throws: KeychainError.self) { try app.token.set("second") }
            for engine in app.engines {
                let error = await #expect(throws: StorageError.self, "\(type(of: engine))") {
                    try await engine.write(Data(), key: CacheKey("second"))
                }
                #expect(error?.code == .placeRemoved && error?.message.contains("another test") == true, "\(error)")
                await #expect(throws: StorageError.self) { try await engine.fetchKeys() }
            }
            for store in [app.notes, app.table] {
                #expect(throws: StorageError.self) { try store.save(Note(id: "second")) }
                #expect(throws: StorageError.self) { try store.getCollection() }
            }
            // A new one has what this test stores.
            #expect(try await App().contents() == Self.nothing)
        }
        #expect(!isFolder(first))
    }

    @Test("A store can be used in the test that has created it, and in uses within, but not beside it") @MainActor
    func storeOfAnotherTest() async throws {
        let meeting = Meeting(of: 2)
        let shared = Locked<Store<Note>?>(nil)
        func beside() async throws {
            try await TemporaryStorage.use {
                await meeting.arrive()
                let store = try #require(shared.withLock { $0 })
                let error = await #expect(throws: StorageError.self) { try await store.insert(Note(id: "b")) }
                #expect(error?.message.contains("another test") == true)
                await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
            }
        }
        func owner() async throws {
            try await TemporaryStorage.use {
                let store = try await Store<Note>(storage: SQLiteStorageEngine.default)
                shared.withLock { $0 = store }
                await meeting.arrive()
                try await store.insert(Note(id: "a"))
                try await TemporaryStorage.use { try await store.insert(Note(id: "nested")) }
                try await Task.detached { try await store.insert(Note(id: "detached")) }.value
                #expect(store.items.map(\.id) == ["a", "nested", "detached"])
            }
        }
        async let one: Void = beside()
        try await owner()
        try await one
        let store = try #require(shared.withLock { $0 })
        let error = await #expect(throws: StorageError.self) { try await store.itemsHaveLoaded() }
        #expect(error?.code == .placeRemoved)
    }

    @Test("The standard user defaults are neither read nor changed")
    func standardDefaults() throws {
        let stored = "TemporaryStorageTests.stored"
        UserDefaults.standard.set(Data(#"{"value":"the user's"}"#.utf8), forKey: stored)
        defer { UserDefaults.standard.removeObject(forKey: stored) }
        TemporaryStorage.use {
            let value = StoredValue(key: stored, default: "new")
            #expect(value.wrappedValue == "new")
            value.set("the test's")
            #expect(StoredValue(key: stored, default: "new").wrappedValue == "the test's")
            value.reset()
            #expect(value.wrappedValue == "new")
        }
        #expect(UserDefaults.standard.data(forKey: stored) == Data(#"{"value":"the user's"}"#.utf8))
    }

    @Test("A process for previews stores nothing in the user's folders; another one does", arguments: ["1", "0"])
    func previews(_ value: String) async throws {
        let home = TemporaryFolder()
        let lines = try await Child(
            "use-default-storage",
            environment: [
                "XCODE_RUNNING_FOR_PREVIEWS": value, "HOME": home.url.path, "XDG_DATA_HOME": home.file("data").path,
            ]
        ).lines()
        try #require(lines.count == 2)
        #expect(lines[0] == "1 saved")
        let isKept = FileManager.default.fileExists(atPath: lines[1])
        let contents = try FileManager.default.contentsOfDirectory(atPath: home.url.path)
        #expect(isKept == (value == "0"))
        #expect(contents.isEmpty == (value == "1"), "\(contents)")
    }

    @Test("Many uses need no more files than one")
    func descriptors() async throws {
        let lines = try await Child("repeat-temporary-storage", "50").lines()
        let counts = lines.compactMap { Int($0) }
        try #require(counts.count == 2)
        #expect(counts[0] > 0 && counts[1] <= counts[0] + 8, "\(counts)")
    }
}

/// The trait: each test of the suite finds nothing of the others.
@Suite(.temporaryStorage) struct TemporaryStorageTraitTests {

    @Test("Each case has storage of its own", arguments: 0..<12)
    func cases(_ number: Int) async throws {
        let engine = SQLiteStorageEngine.default
        #expect(try await engine.fetchKeys().isEmpty)
        try await engine.write(Data(), key: CacheKey("\(number)"))
        @StoredValue(key: "TemporaryStorageTraitTests") var count = 0
        $count.set(number + 1)
        #expect(count == number + 1)
        #expect(engine.file.path.contains("emporium-temporary-"))
    }

    @Test("So has each test") @MainActor func another() async throws {
        #expect(try await SQLiteStorageEngine.default.fetchKeys().isEmpty)
    }
}
