import Bodega
import BodegaHTTP
import Boutique
import Foundation
import TestSupport
import Testing

// The snippet of the guide "Composing engines". A test compares it with the guide, line by line.

struct Note: Codable, Sendable, Identifiable {
    let id: String
    var text: String
}

@MainActor
func openNotes(
    at url: URL, in directory: FileManager.Directory, secrets: any SecretStorage, keyset: EncryptionKeyset
) async throws -> Store<Note> {
    let api = try HTTPStorageEngine(url) {
        let token = try secrets.read(SecretAddress(key: "token")) ?? Data()
        return ["Authorization": "Bearer \(String(decoding: token, as: UTF8.self))"]
    }
    let database = try SQLiteStorageEngine(opening: directory).encrypted(with: keyset, collection: "notes")
    let notes = api.mirrored(to: database.cached(bytes: 16 << 20), readingMirror: .first)
    do {
        try await notes.refresh()
    } catch let error where StorageRetryPolicy.isTemporary(error) {
        // Without the server, the store has the items of the last refresh.
    }
    let store = try await Store<Note>(storage: notes)
    return store
}

/// From a token in a secret store and a server to an encrypted database, a cache and a store.
@Suite @MainActor struct PipelineTests {
    private let folder = TemporaryFolder()
    private let keyset = EncryptionKeyset()

    /// Encrypted files hold the token, as they do on Linux.
    private func makeSecrets() throws -> EncryptedFileSecretStorage {
        EncryptedFileSecretStorage(directory: FileManager.Directory(url: folder.file("secrets")))
    }

    private func open(_ server: APIServer, _ secrets: any SecretStorage) async throws -> Store<Note> {
        let directory = FileManager.Directory(url: folder.file("notes"))
        return try await openNotes(at: server.url("private/notes"), in: directory, secrets: secrets, keyset: keyset)
    }

    /// Writes notes as another client of the server.
    private func write(_ notes: [Note], to server: APIServer) async throws {
        let client = try HTTPStorageEngine(server.url("private/notes")) {
            ["Authorization": "Bearer \(APIServer.token)"]
        }
        try await client.write(notes.map { (CacheKey($0.id), try JSONEncoder().encode($0)) })
    }

    private func texts(_ store: Store<Note>) -> [String] { store.items.map(\.text) }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        (await #expect(throws: StorageError.self) { _ = try await body() })?.code
    }

    @Test func `Items of the server are read without it, and writes need it`() async throws {
        let secrets = try makeSecrets()
        try secrets.write(Data(APIServer.token.utf8), to: SecretAddress(key: "token"))
        let server = try await APIServer()
        try await write([Note(id: "1", text: "Buy milk"), Note(id: "ä", text: "Call Ada")], to: server)

        // The first run copies the items.
        var store = try await open(server, secrets)
        #expect(texts(store) == ["Buy milk", "Call Ada"])
        try await store.insert(Note(id: "3", text: "Write home"))

        // The second run has them without the server. A write that the server does not get changes nothing.
        try await server.end()
        for _ in 1...2 {
            store = try await open(server, secrets)
            #expect(texts(store) == ["Buy milk", "Call Ada", "Write home"])
            #expect(await code { try await store.insert(Note(id: "4", text: "lost")) } == .unreachable)
            #expect(await code { try await store.remove(Note(id: "1", text: "")) } == .unreachable)
            #expect(texts(store) == ["Buy milk", "Call Ada", "Write home"])
        }

        // The server is back, with what another client has written.
        let restarted = try await APIServer(port: server.port)
        try await write([Note(id: "1", text: "Buy tea"), Note(id: "5", text: "New")], to: restarted)
        store = try await open(restarted, secrets)
        #expect(Set(texts(store)) == ["Buy tea", "New"])
        try await store.insert(Note(id: "6", text: "Newer"))
        try await restarted.end()
        store = try await open(restarted, secrets)
        #expect(Set(texts(store)) == ["Buy tea", "New", "Newer"])
    }

    @Test func `The database contains neither the items nor the token in clear text`() async throws {
        let secrets = try makeSecrets()
        try secrets.write(Data(APIServer.token.utf8), to: SecretAddress(key: "token"))
        let server = try await APIServer()
        try await write([Note(id: "1", text: "Buy milk")], to: server)
        do {
            let store = try await open(server, secrets)
            try await store.insert(Note(id: "2", text: "Call Ada"))
            #expect(texts(store) == ["Buy milk", "Call Ada"])
        }
        var size = 0
        let files = try #require(FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil))
        for case let file as URL in files where !file.hasDirectoryPath {
            let bytes = try Data(contentsOf: file)
            size += bytes.count
            for text in ["Buy milk", "Call Ada", APIServer.token] {
                #expect(bytes.range(of: Data(text.utf8)) == nil, "\(file.path)")
            }
        }
        #expect(size > 1_000)
    }

    @Test func `A wrong token is an error, not an empty store`() async throws {
        let server = try await APIServer.shared.value
        let wrong = MemorySecretStorage([SecretAddress(key: "token"): Data("wrong".utf8)])
        #expect(await code { try await open(server, wrong) } == .unauthorized)
        #expect(await code { try await open(server, MemorySecretStorage()) } == .unauthorized)
    }

    @Test func `Without a refresh there is nothing to read without the server`() async throws {
        let server = try await APIServer()
        try await server.end()
        #expect(await code { try await open(server, MemorySecretStorage()) } == .unreachable)
    }
}
