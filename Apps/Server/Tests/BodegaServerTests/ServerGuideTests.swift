import Bodega
import BodegaRemote
import BodegaServer
import BodegaTestSupport
import Foundation
import Testing

@Suite("The guide to items on a server")
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

    @Test("shows the program that this test runs", .temporaryStorage)
    func snippet() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let guide = try String(
            contentsOf: folder.appendingPathComponent("../../../../docs/Emporium.docc/ItemsOnAServer.md"),
            encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let snippet = try #require(guide.components(separatedBy: "```swift\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let lines = snippet.split(separator: "\n").filter { !$0.hasPrefix("import ") }
        #expect(lines.last == "try await server.run()")
        let indented = lines.dropLast().map { "        " + $0 }.joined(separator: "\n")
        #expect(source.contains(indented))

        let (token, tokens, database) = try await program()
        let server = try await TestServer(access: tokens, ["notes": try database.collection(named: "notes")])
        let engine = try await server.engine(token: token)
        try await engine.write(Data(#"{"owner":"ada"}"#.utf8), key: CacheKey("milk"))
        #expect(try await engine.fetchCount() == 1)
        await #expect(throws: StorageError.self) {
            try await engine.write(Data(#"{"owner":"bob"}"#.utf8), key: CacheKey("tea"))
        }
    }
}
