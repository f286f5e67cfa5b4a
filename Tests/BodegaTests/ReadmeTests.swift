import Bodega
import BodegaTesting
import Foundation
import RecordCoder
import TestSupport
import Testing

/// The snippets of the README and of the tours, compiled and run.
@Suite struct ReadmeTests {

    private static let documents = [
        "README.md", "Sources/Bodega/Documentation.docc/Guides/ATourOfBodega.md",
        "Sources/Boutique/Documentation.docc/Guides/ATourOfBoutique.md",
        "Sources/CodableStoreKit/Documentation.docc/Guides/ATourOfCodableStoreKit.md",
        "Sources/CodableStoreKit/Documentation.docc/Guides/UsingStores.md",
        "Sources/Boutique/Documentation.docc/Guides/ComingFromUserDefaults.md",
        "Sources/Boutique/Documentation.docc/Guides/ComingFromJSONFiles.md",
        "Sources/Boutique/Documentation.docc/Guides/ComingFromRealm.md",
        "Sources/Boutique/Documentation.docc/Guides/ComingFromGRDB.md", "docs/Emporium.docc/TestingYourApp.md",
        "Sources/Bodega/Documentation.docc/Guides/ComingFromBodega.md",
        "Sources/Boutique/Documentation.docc/Guides/ComingFromBoutique.md",
        "Sources/CodableStoreKit/Documentation.docc/Guides/ComingFromCodableStoreKit.md",
        "Sources/Bodega/Documentation.docc/Guides/WritingAnEngine.md",
        "Sources/Bodega/Documentation.docc/Guides/ComposingEngines.md",
        "Sources/Bodega/Documentation.docc/Guides/Encryption.md", "docs/Emporium.docc/GettingStarted.md",
        "Sources/Bodega/Documentation.docc/Guides/QueryingObjects.md",
        "Sources/Boutique/Documentation.docc/Guides/LiveWindows.md",
        "Sources/Boutique/Documentation.docc/Guides/ChangingTypes.md",
        "Sources/Boutique/Documentation.docc/Guides/InSwiftUI.md",
        "docs/Emporium.docc/ChangingSeveralCollections.md", "docs/Emporium.docc/RelatedItems.md",
        "docs/Emporium.docc/OfflineFirst.md", "docs/Emporium.docc/SyncConflicts.md",
        "docs/Emporium.docc/SyncBackends.md",
    ]

    /// The files that must contain these snippets, line by line.
    private static let sources = [
        "Tests/BodegaTests/Wrappers/ComposingGuideTests.swift", "Tests/BoutiqueTests/TestingGuideTests.swift",
        "Tests/TestChild/GuideSnippets.swift",
        "Tests/TestChild/OriginalsSnippets.swift", "Tests/BodegaTestingTests/EngineGuideTests.swift",
        "Tests/ReadmeProgram/Program.swift", "Tests/GettingStarted/Notes.swift", "Tests/TestChild/ReadmeSnippets.swift",
        "Tests/TestChild/ReadmeStoreSnippets.swift",
        "Tests/TestChild/ReadmeCodableStoreSnippets.swift", "Tests/BodegaTests/ReadmeTests.swift",
        "Tests/BodegaTests/Streams/StreamTests.swift",
        "Tests/BodegaPostgresTests/PostgresReadmeTests.swift", "Tests/BodegaHTTPTests/PipelineTests.swift",
        "Tests/BodegaTests/Queries/QueriesGuideTests.swift", "Tests/BoutiqueTests/Queries/LiveWindowsGuideTests.swift",
        "Tests/BoutiqueTests/Store/TransactionsGuideTests.swift",
        "Tests/BoutiqueTests/Store/ReferencesGuideTests.swift", "Tests/BoutiqueTests/Store/GRDBGuideTests.swift",
        "Tests/BoutiqueTests/Records/ChangingTypesGuideTests.swift",
        "Tests/BoutiqueTests/SwiftUI/SwiftUIGuideViews.swift",
        "Tests/BoutiqueTests/Queries/RelatedItemsGuideTests.swift", "Tests/BodegaSyncTests/SyncGuideTests.swift",
        "Tests/BodegaSyncTests/SyncConflictsGuide.swift", "Tests/BodegaSyncTests/SyncServiceGuideTests.swift",
        "Apps/Server/Tests/BodegaServerTests/ServerGuideTests.swift",
    ]

    @Test("Every Swift snippet is compiled and run", arguments: documents)
    func snippets(of document: String) throws {
        let sources = try Self.sources.map { try lines(of: text($0)) }
        let snippets = try text(document).components(separatedBy: "```swift\n").dropFirst().map {
            lines(of: $0.components(separatedBy: "```")[0])
        }
        #expect(!snippets.isEmpty)
        // Snippets for a manifest begin with a dot, or are a whole manifest.
        for snippet in snippets where !snippet[0].hasPrefix(".") && !snippet[0].hasPrefix("// swift-tools-version") {
            // `ServerGuideTests` of Apps checks these: the last line serves until it is stopped, and is not run.
            if snippet.contains("import BodegaServer") { continue }
            #expect(sources.contains { contains($0, snippet) }, "not compiled:\n\(snippet.joined(separator: "\n"))")
        }
    }

    @Test("The program at the head of the README runs and keeps its notes")
    func program() async throws {
        let home = TemporaryFolder()
        let environment = Self.environment(in: home)
        for count in 1...2 {
            let lines = try await Child([], program: "ReadmeProgram", environment: environment).lines()
            #expect(lines == ["\(Array(repeating: "Buy milk", count: count))"])
        }
        #if !canImport(Darwin)
        // The location that the README documents.
        #expect(try SQLiteStorageEngine(readingFile: home.file("XDG_DATA_HOME/Notes/data.sqlite3")).file.isFileURL)
        #endif
    }

    @Test("The program of the tutorial keeps its notes")
    func tutorial() async throws {
        let environment = Self.environment(in: TemporaryFolder())
        for (text, expected) in [("Buy milk", ["• Buy milk"]), ("Buy tea", ["• Buy milk", "• Buy tea"])] {
            let lines = try await Child(text, program: "GettingStarted", environment: environment).lines()
            #expect(lines == expected)
        }
        let done = try await Child("done", program: "GettingStarted", environment: environment).lines()
        #expect(done == ["✓ Buy milk", "• Buy tea"])
    }

    @Test("The guides about the original libraries find the data of these, and take it over")
    func originals() async throws {
        let home = TemporaryFolder()
        let environment = Self.environment(in: home)
        #if canImport(Darwin)
        let data = home.file("CFFIXED_USER_HOME/Library/Application Support")
        #else
        let data = home.file("XDG_DATA_HOME")
        #endif
        let quotes = data.appendingPathComponent("Quotes")
        let users = home.file("Default-CodableStoreContainer/User.Type")
        for folder in [quotes, users] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try FileManager.default.copyItem(
            at: Fixtures.file("bodega-2-quotes.sqlite3"), to: quotes.appendingPathComponent("data.sqlite3"))
        try Data("not JSON".utf8).write(to: users.appendingPathComponent("77.json"))
        try Data("of the file manager".utf8).write(to: users.appendingPathComponent(".DS_Store"))
        // Two launches have saved the same user, in the order of these dates.
        let files = [("-8829374650", "42", "Mr. Robot"), ("7512", "42", "Mister Robot"), ("99", "43", "Darlene")]
        for (index, (name, id, user)) in files.enumerated() {
            let file = users.appendingPathComponent("\(name).json")
            try Data(#"{"id": "\#(id)", "name": "\#(user)"}"#.utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_530_000_000 + Double(index))], ofItemAtPath: file.path
            )
        }
        let all = try await Child("originals", home.path, environment: environment).lines()
        let lines = all.filter { !$0.contains("was not taken over") }
        #expect(all.count == lines.count + 1)
        #expect(
            lines == [
                #"["There are years that ask questions and years that answer.", "Find out who you are."]"#,
                #"["zora", "dolly-parton"]"#, #"["zora", "dolly-parton"]"#, #"["zora", "dolly-parton", "ella"]"#,
                #"["ella"] ["ella"]"#, #"["Darlene", "Mister Robot"]"#, #"["Darlene", "Elliot"]"#,
                #"["Darlene", "Elliot"]"#,
            ])
        #expect(!FileManager.default.fileExists(atPath: users.path))
        let folder = users.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count == 1 && names[0].hasSuffix(".old"))
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + names[0])
        #expect(kept.count == files.count + 2)
    }

    @Test("The snippets that use the user's folders do what the tours say")
    func userFolders() async throws {
        let home = TemporaryFolder()
        let child = try Child("readme", home.path + "/backup.sqlite3", environment: Self.environment(in: home))
        let lines = await child.lines()
        #expect(lines.prefix(4) == [#"0 ["Quotes", "Drafts"]"#, #"["milk", "bread"]"#, "1 Buy coffee", "there are 1"])
        // The rest comes from concurrent tasks, in no particular order.
        #expect(lines.contains("something of this will change") && lines.contains("there are 0"))
        #expect(lines.last == "done")
        #expect(
            try await SQLiteStorageEngine(openingFile: home.file("backup.sqlite3")).fetchKeys() == [CacheKey("zora")])
    }

    @Test("The guides for migrants take over values and items")
    func guides() async throws {
        let home = TemporaryFolder()
        try Data(#"[{"id": "1", "text": "Buy milk"}, {"id": "2", "text": "Buy bread"}]"#.utf8)
            .write(to: home.file("notes.json"))
        try Data(#"{"Dog": [{"_id": "r", "name": "Rex", "age": 3, "toys": [{"name": "ball"}]}], "Cat": []}"#.utf8)
            .write(to: home.file("dogs.json"))
        let lines = try await Child("guides", home.path, environment: Self.environment(in: home)).lines()
        #expect(
            lines == [
                "20", #"21 ["a", "b"] true"#, #"["Buy milk", "Buy bread"]"#, #"["Buy bread"]"#,
                #"["Rex, 3, [\"ball\"]"]"#,
            ])
    }

    @Test("The snippets of CodableStoreKit do what the tours say")
    func codableStores() async throws {
        let home = TemporaryFolder()
        let lines = try await Child("readme-codable-stores", environment: Self.environment(in: home)).lines()
        #expect(
            lines == [
                #"["Mr. Robot"]"#, #"["Mr. Robot"]"#, "saved Mr. Robot", #"["Mr. Robot", "Elliot"]"#, "saved Elliot",
                #"["Elliot"]"#,
            ])
    }

    /// The variables that determine the user's folders. On Apple platforms only the last one does.
    private static func environment(in home: TemporaryFolder) -> [String: String] {
        let variables = ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "CFFIXED_USER_HOME"]
        return Dictionary(uniqueKeysWithValues: variables.map { ($0, home.path + "/" + $0) })
    }

    @Test("The snippet about errors catches a full volume")
    func errors() async throws {
        let engine = FaultInjectingStorageEngine(
            MemoryStorageEngine(),
            faults: [.fail([.apply], with: StorageError(.storageFull, "The volume is full."))]
        )
        let (picture, key) = (Data(), CacheKey("picture"))

        do {
            try await engine.write(picture, key: key)
        } catch let error as StorageError where error.code == .storageFull {
            print(error)  // storageFull: The volume is full. Make room and write again; …
        }
    }

    @Test("The snippet that follows changes receives a snapshot, and then the changes")
    func following() async throws {
        let folder = TemporaryFolder()
        let engine = try SQLiteStorageEngine(opening: folder.directory)
        try await engine.write(Data(), key: CacheKey("a"))
        let (updates, last) = try await Task { try await follow(engine) }.value
        #expect(updates == ["all: a", "b"])
        // No change follows the cursor.
        #expect(try await engine.fetchCursor() == last)
    }

    private func follow(_ engine: SQLiteStorageEngine) async throws -> (updates: [String], last: StorageCursor?) {
        var cursor: StorageCursor?
        let index = Index(changing: engine)

        for try await update in engine.changes(since: cursor) {  // nil at first
            switch update {
            case .snapshot(let snapshot): index.replaceAll(snapshot.items.map(\.key))
            case .changes(let delta): index.refresh(delta.changes.map(\.key))
            }
            cursor = update.cursor  // save it to continue there after a restart
        }

        return (index.updates, cursor)
    }

    @Test("The snippets about coders decode an object and use the given coders")
    func coders() async throws {
        let quote = Quote(text: "Find out who you are.", date: Date(timeIntervalSince1970: 1_655_922_600))
        let engine = MemoryStorageEngine()
        do {
            let data = try RecordEncoder().encode(quote)
            let copy = try RecordDecoder().decode(Quote.self, from: data)
            #expect(copy == quote)
        }

        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let storage = ObjectStorage<Quote>(storage: engine, coder: .json(encoder: encoder, decoder: decoder))

        try await storage.store(quote, forKey: CacheKey("dolly"))
        #expect(try await storage.fetchObject(forKey: CacheKey("dolly")) == quote)
        let stored = try #require(try await engine.fetch(key: CacheKey("dolly")))
        #expect(String(decoding: stored, as: UTF8.self).contains("2022-06-22T18:30:00Z"))
    }

    /// Whether a source contains the snippet's imports and, contiguously, the rest of it.
    private func contains(_ source: [String], _ snippet: [String]) -> Bool {
        let imports = snippet.filter { $0.hasPrefix("import ") }
        let body = snippet.filter { !$0.hasPrefix("import ") }
            .joined(separator: "\n").trimmingCharacters(in: .newlines)
        return imports.allSatisfy(source.contains)
            && withoutStatic(source.joined(separator: "\n")).contains(withoutStatic(body))
    }

    /// A source whose lines begin with a line break, without the `static` of functions, because a source can put a
    /// function of a document into a namespace.
    private func withoutStatic(_ lines: String) -> String {
        ("\n" + lines + "\n").replacingOccurrences(of: "\nstatic func ", with: "\nfunc ")
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Fixtures.root.appendingPathComponent(path), encoding: .utf8)
    }

    private func lines(of text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

private struct Quote: Codable, Equatable {
    var text: String
    var date: Date
}

/// Records the updates, changes the engine after the first one, and cancels its task after the second one.
private final class Index {
    private(set) var updates: [String] = []
    private let engine: SQLiteStorageEngine

    init(changing engine: SQLiteStorageEngine) { self.engine = engine }

    func replaceAll(_ keys: [CacheKey]) {
        updates.append("all: " + keys.map(\.rawValue).joined(separator: " "))
        Task { [engine] in try await engine.write(Data(), key: CacheKey("b")) }
    }

    func refresh(_ keys: [CacheKey]) {
        updates.append(keys.map(\.rawValue).joined(separator: " "))
        withUnsafeCurrentTask { $0?.cancel() }
    }
}

private typealias MyStorageEngine = MemoryStorageEngine

nonisolated let myEngine = StorageEngineConformance.Configuration("mine", capabilities: [.ordered]) { workspace in
    MyStorageEngine(now: workspace.clock.now)
}

@Test(arguments: StorageEngineConformance.checks(for: myEngine))
func `My engine keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}
