import Bodega
import BodegaRemote
import BodegaSync
import Boutique
import Foundation
import TestSupport
import Testing

struct Note: Codable, Sendable, Identifiable {
    var id = UUID()
    var title: String
    var isDone = false
}

/// The notes of the app, synchronized with those of a server.
func openNotes(in file: SQLiteStorageEngine, with server: RemoteDatabase) async throws -> SyncedStorageEngine {
    let sync = try await StorageSync(
        local: { try file.collection(named: $0) }, remote: { try await server.collection(named: $0) })
    return try await sync.collection(named: "notes", preserving: Note.self)
}

@MainActor
func useNotes(in file: SQLiteStorageEngine, with server: RemoteDatabase) async throws {
    let engine = try await openNotes(in: file, with: server)
    let notes = try await Store<Note>(storage: engine)
    try await notes.insert(Note(title: "Buy milk"))  // on the device when it returns
    try await engine.sync.settled()  // on the server when it returns, which can take until there is a network
}

@MainActor
func statusLine(of sync: StorageSync) -> String {
    let status = sync.status
    if status.needsCredentials { return "Sign in to synchronize." }
    if status.isPaused { return "Paused, \(status.pending) to send." }
    if status.parked > 0 { return "Refused by the server: \(status.parked)." }
    if status.failure != nil { return "Offline, \(status.pending) to send." }
    return status.isSettled ? "Everything is up to date." : "Synchronizing…"
}

func dealWithRefusedChanges(of sync: StorageSync) async throws {
    for change in try await sync.parked() {
        guard let failure = change.failure else { continue }
        if failure.code == StorageError.Code.permissionDenied.rawValue {
            try await sync.discard(change.key, in: change.collection)  // as the server has it
        } else {
            try await sync.retry(change.key, in: change.collection)
        }
    }
}

/// Removes the notes of a person from the device, unless some are not on the server yet.
func signOut(of sync: StorageSync, in file: SQLiteStorageEngine) async throws -> Bool {
    await sync.pause()
    guard try await sync.pending(limit: 1).isEmpty else { return false }
    try await file.close()
    try FileManager.default.removeItem(at: file.file)
    return true
}

/// The snippets of the guides, compiled, and run with two databases in place of a file and a server.
@Suite struct SyncGuideTests {
    @Test func `The guide's policy takes the larger number`() async throws {
        let server = MemoryStorageEngine()
        let remote: @Sendable (String) -> MemoryStorageEngine = { server.collection(named: $0) }
        let (first, second) = (MemoryStorageEngine(), MemoryStorageEngine())
        let ada = try await StorageSync(local: { first.collection(named: $0) }, remote: { remote($0) })
        let bob = try await StorageSync(local: { second.collection(named: $0) }, remote: { remote($0) })
        let (counter, other) = (try await openCounters(of: ada), try await openCounters(of: bob))
        try await counter.write(Data("7".utf8), key: CacheKey("n"))
        try await other.write(Data("5".utf8), key: CacheKey("n"))
        try await ada.settled()
        try await bob.settled()
        try await ada.settled()
        #expect(try await counter.fetch(key: CacheKey("n")) == Data("7".utf8))
        #expect(try await other.fetch(key: CacheKey("n")) == Data("7".utf8))
        try await listConflicts(of: bob)
        try await dealWithRefusedChanges(of: ada)
        #expect(await statusLine(of: ada) == "Everything is up to date.")
    }
    @Test func `The guide's sign-out leaves the server as it is, and no notes on the device`() async throws {
        let (server, folder, key) = (MemoryStorageEngine(), TemporaryFolder(), CacheKey("n"))
        let url = folder.url.appendingPathComponent("ada.sqlite3")
        func open() async throws -> (file: SQLiteStorageEngine, notes: SyncedStorageEngine) {
            let file = try SQLiteStorageEngine(openingFile: url)
            let sync = try await StorageSync(
                local: { try file.collection(named: $0) }, remote: { server.collection(named: $0) })
            return (file, try await sync.collection(named: "notes"))
        }
        let first = try await open()
        await first.notes.sync.pause()
        try await first.notes.write(Data("1".utf8), key: key)
        #expect(try await !signOut(of: first.notes.sync, in: first.file))
        #expect(try await first.notes.fetch(key: key) == Data("1".utf8))
        await first.notes.sync.resume()
        try await first.notes.sync.settled()
        #expect(try await signOut(of: first.notes.sync, in: first.file))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        #expect(try await server.collection(named: "notes").fetch(key: key) == Data("1".utf8))
        let second = try await open()
        #expect(try await second.notes.fetch(key: key) == nil)
        try await second.notes.sync.settled()
        #expect(try await second.notes.fetch(key: key) == Data("1".utf8))
    }
}
