import Bodega
import BodegaRemote
import BodegaServer
import BodegaSync
import BodegaTestSupport
import Boutique
import Foundation
import Testing

/// That of the README.
private struct Note: Codable, Sendable, Identifiable {
    var id: String
    var text: String
    var isDone = false
}

@Suite("The guide to items on a server, and the section of the README")
struct ServerGuideTests {

    /// The program of the guide, but for its last line, which serves until it is stopped.
    private func program() async throws -> (token: String, tokens: AccessTokens, database: SQLiteStorageEngine) {
        let database = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Server"))
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        let (token, _) = try await tokens.create(
            name: "Ada's phone", grants: [AccessGrant(collection: "notes", matching: #"@.owner == "ada""#)])
        print(token)  // is not shown again
        var collections: StorageCollections = ["notes": try database.collection(named: "notes")]
        collections.receipts = try database.collection(named: "receipts")  // of changes that clients send again
        let server = StorageServer(access: tokens, collections: collections)
        _ = server
        return (token, tokens, database)
    }

    /// The lines of the README for a server, but for the last one.
    private func serve(_ database: SQLiteStorageEngine) async throws -> (AccessTokens, StorageCollections) {
        let tokens = AccessTokens(storage: try database.collection(named: "tokens"))
        print(try await tokens.create(name: "Ada's phone", grants: [AccessGrant(collection: "notes")]).token)
        var collections: StorageCollections = ["notes": try database.collection(named: "notes")]
        collections.receipts = try database.collection(named: "receipts")  // of changes that clients send again
        let server = StorageServer(access: tokens, collections: collections)
        _ = server
        return (tokens, collections)
    }

    /// The lines of the README for a device.
    @MainActor
    private func openNotes(
        in file: SQLiteStorageEngine, with url: URL, _ token: String
    ) async throws -> (sync: StorageSync, notes: Store<Note>) {
        let server = try RemoteDatabase(url) { token }
        let sync = try await StorageSync(local: file.collection(named:), remote: server.collection(named:))
        let notes = try await Store<Note>(storage: sync.collection(named: "notes", preserving: Note.self))
        return (sync, notes)
    }

    @Test("show the programs that these tests run", arguments: ["docs/Emporium.docc/ItemsOnAServer.md", "README.md"])
    func snippets(in document: String) throws {
        let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let text = try String(contentsOf: root.appendingPathComponent(document), encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let programs = text.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
            .filter { $0.contains("import BodegaServer\n") }
        try #require(programs.count == 1)
        let lines = programs[0].split(separator: "\n").filter { !$0.hasPrefix("import ") }
        #expect(lines.last == "try await server.run()")
        let indented = lines.dropLast().map { "        " + $0 }.joined(separator: "\n")
        #expect(source.contains(indented))
    }

    @Test("The program of the guide gives a client the items of its token", .temporaryStorage)
    func guide() async throws {
        let (token, tokens, database) = try await program()
        let server = try await TestServer(access: tokens, ["notes": try database.collection(named: "notes")])
        let engine = try await server.engine(token: token)
        try await engine.write(Data(#"{"owner":"ada"}"#.utf8), key: CacheKey("milk"))
        #expect(try await engine.fetchCount() == 1)
        await #expect(throws: StorageError.self) {
            try await engine.write(Data(#"{"owner":"bob"}"#.utf8), key: CacheKey("tea"))
        }
    }

    @Test("The store of the README works without the server, and synchronizes with it", .temporaryStorage)
    @MainActor
    func readme() async throws {
        let database = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Server"))
        let (tokens, collections) = try await serve(database)
        let stored = try await tokens.all()
        #expect(stored.map(\.name) == ["Ada's phone"])
        let (token, _) = try await tokens.create(name: "Ada's second phone", grants: stored[0].grants)
        let server = try await TestServer(access: tokens, collections)

        let file = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Device"))
        let (sync, notes) = try await openNotes(in: file, with: server.url, token)
        try await notes.insert(Note(id: "milk", text: "Buy milk"))
        try await sync.settled()
        #expect(try await database.collection(named: "notes").fetchKeys() == [CacheKey("milk")])

        await server.stop()
        try await notes.insert(Note(id: "tea", text: "Buy tea"))
        #expect(notes.items.map(\.text) == ["Buy milk", "Buy tea"])
        #expect(try await sync.pending().count == 1)

        let restarted = try await TestServer(access: tokens, port: server.port, collections)
        try await sync.settled()
        #expect(try await Store<Note>(storage: database.collection(named: "notes")).items.count == 2)
        await restarted.stop()
    }
}
