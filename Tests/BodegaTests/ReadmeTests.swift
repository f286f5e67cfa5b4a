import Bodega
import BodegaTesting
import Foundation
import Testing

/// The snippets of the README, compiled and run. What stands in it must stand here, line by line.
@Suite(.serialized) struct ReadmeTests {

    private let home = TemporaryFolder()

    init() {
        // Snippets use the user's folders; these tests must not.
        setenv("XDG_DATA_HOME", home.path, 1)
        setenv("XDG_CACHE_HOME", home.path + "/cache", 1)
    }

    @Test("Every Swift snippet of the README stands in this file")
    func snippets() throws {
        let readme = try text("README.md")
        let lines = try text("Tests/BodegaTests/ReadmeTests.swift").components(separatedBy: "\n").map(trimmed)
        let code = "\n" + lines.joined(separator: "\n") + "\n"
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0].components(separatedBy: "\n").map(trimmed)
        }
        #expect(blocks.count > 6)
        for block in blocks {
            // What goes into a manifest begins with a dot.
            if block[0].hasPrefix(".") { continue }
            let (imports, rest) = (block.filter { $0.hasPrefix("import ") }, block.filter { !$0.hasPrefix("import ") })
            for line in imports { #expect(lines.contains(line)) }
            let body = rest.joined(separator: "\n").trimmingCharacters(in: .newlines)
            #expect(code.contains("\n" + body + "\n"), "not compiled:\n\(body)")
        }
    }

    @Test("The first snippet stores quotes")
    func firstSnippet() async throws {
        struct Quote: Codable { var id, text: String }

        let storage = ObjectStorage<Quote>(storage: SQLiteStorageEngine.default(appendingPath: "Quotes"))

        let dolly = Quote(id: "dolly-parton", text: "Find out who you are. And do it on purpose.")
        try await storage.store(dolly, forKey: CacheKey(dolly.id))  // on the medium when it returns

        let quotes = try await storage.fetchAllObjects().objects  // in the order in which they were stored

        #expect(quotes.map(\.id) == ["dolly-parton"])
        try await undecodable(storage)
    }

    private func undecodable<Quote>(_ storage: ObjectStorage<Quote>) async throws {
        func show(_ quotes: [Quote]) { #expect(quotes.count == 1) }

        let fetched = try await storage.fetchAllObjects()
        show(fetched.objects)
        for error in fetched.undecodable { print(error.key as Any, error.cause as Any) }
    }

    @Test("The snippets of the engines")
    func engines() async throws {
        // One SQLite file. The engine to use unless there is a reason not to.
        let database = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Quotes"))

        // One file an item, named as Bodega names them.
        let folder = try DiskStorageEngine(opening: .caches(appendingPath: "Pictures"), durability: .relaxed)

        // In memory: for tests, previews and caches.
        let memory = MemoryStorageEngine()

        for engine in [database, folder, memory] as [any StorageEngine] {
            let key = CacheKey("dolly-parton")
            try await engine.write(Data("Find out who you are.".utf8), key: key)

            let data = await engine.read(key: key)  // nil if there is none, or if it could not be read
            let same = try await engine.fetch(key: key)  // nil if there is none; throws if it could not be read
            assert(data == same)

            // All of it, or, if anything fails, nothing.
            try await engine.apply([
                .write(key: CacheKey("zora"), data: Data("There are years that ask questions".utf8)),
                .remove(key: key),
            ])
        }

        for engine in [database, folder, memory] as [any StorageEngine] {
            #expect(try await engine.fetchKeys() == [CacheKey("zora")])
        }
        try await collections(database, home.file("backup.sqlite3"))
    }

    private func collections(_ database: SQLiteStorageEngine, _ backupFile: URL) async throws {
        let quotes = try database.collection(named: "Quotes")
        let drafts = try database.collection(named: "Drafts")
        try await drafts.write(Data("Find out".utf8), key: CacheKey("dolly-parton"))
        print(try await quotes.fetchCount(), try await database.collectionNames())

        try await database.backup(to: backupFile)
        let problems = try await database.integrityCheck()
        assert(problems.isEmpty)
    }

    @Test("The snippet of the errors")
    func errors() async throws {
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(),
            faults: [.fail([.write], with: StorageError(.storageFull, "The volume is full."))]
        )
        let (picture, key) = (Data(), CacheKey("picture"))

        do {
            try await engine.write(picture, key: key)
        } catch let error as StorageError where error.code == .storageFull {
            print(error)  // storageFull: The volume is full. Make room and write again; …
        }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Fixtures.root.appendingPathComponent(path), encoding: .utf8)
    }

    private func trimmed(_ line: String) -> String {
        line.trimmingCharacters(in: .whitespaces)
    }
}

private typealias MyStorageEngine = MemoryStorageEngine

let myEngine = StorageEngineConformance.Configuration("mine", capabilities: [.ordered, .exactKeys]) { workspace in
    MyStorageEngine(now: workspace.clock.now)
}

@Test(arguments: StorageEngineConformance.checks(for: myEngine))
func `My engine keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}
