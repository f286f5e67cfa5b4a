import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import Boutique

@MainActor
@Suite struct `Records that can't be decoded` {
    private let engine = MemoryStorageEngine()
    private let entries = Locked<[(level: Logger.Level, metadata: Logger.Metadata)]>([])

    private func storage() -> RecordStorage<Note> {
        let coding = RecordCoding<Note>(identifier: \.id, coder: .json, migration: nil)
        let logger = Logger { [entries] level, metadata in entries.withLock { $0.append((level, metadata)) } }
        return RecordStorage(engine: engine, coding: coding, logger: logger)
    }

    private var keys: [String] { entries.withLock { $0.compactMap { $0.metadata["key"]?.description } } }

    @Test func `are logged once per load, with their keys`() async throws {
        try await Store<Note>(storage: engine).insert(Note(id: "a"))
        for key in ["odd", "strange"] { try await engine.write(Data("{}".utf8), key: CacheKey(key)) }
        let storage = storage()
        _ = try await storage.load()
        #expect(keys == ["\(CacheKey("odd"))", "\(CacheKey("strange"))"])
        #expect(entries.withLock { $0.allSatisfy { $0.level == .error && $0.metadata["error"] != nil } })
        _ = try await storage.load()
        #expect(keys.count == 4)
    }

    @Test func `are not logged by the store's own writes, but are when another origin writes one`() async throws {
        try await engine.write(Data("{}".utf8), key: CacheKey("odd"))
        let store = Store(storage(), showing: LoadedRecords())
        try await store.reload()
        #expect(keys == ["\(CacheKey("odd"))"])
        try await store.insert(Note(id: "a"))
        #expect(keys.count == 1)
        try await engine.write(Data("{}".utf8), key: CacheKey("foreign"))
        try await store.insert(Note(id: "b"))
        #expect(Set(keys) == ["\(CacheKey("odd"))", "\(CacheKey("foreign"))"])
        #expect(store.undecodable.count == 2)
    }

    @Test func `are summarized by a count if there are many`() async throws {
        try await engine.write((0..<1_000).map { (CacheKey("\($0)"), Data("{}".utf8)) })
        _ = try await storage().load()
        #expect(keys.count == 100)
        #expect(entries.withLock { $0.last?.metadata["count"]?.description } == "900")
    }
}
