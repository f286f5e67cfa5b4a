import Bodega
import BodegaTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import Boutique

@MainActor
@Suite struct `A chain that is released without having been run` {
    private let engine = MemoryStorageEngine()
    private let entries = Locked<[(level: Logger.Level, metadata: Logger.Metadata)]>([])

    private func store(_ engine: some StorageEngine) -> Store<Note> {
        let logger = Logger { [entries] level, metadata in entries.withLock { $0.append((level, metadata)) } }
        let coding = RecordCoding<Note>(identifier: \.id, coder: .json, migration: nil)
        return Store(RecordStorage(engine: engine, coding: coding, logger: logger), showing: LoadedRecords())
    }

    private var places: [String] { entries.withLock { $0.compactMap { $0.metadata["place"]?.description } } }

    @Test func `is reported once for each place in the source`() async throws {
        let store = store(engine)
        let first = #line + 2
        for _ in 0..<3 {
            _ = try await store.removeAll().insert(Note(id: "a"))
            _ = try await store.insert(notes("b")).remove(id: "c")
        }
        let file = "BoutiqueTests/UnrunOperationTests.swift"
        #expect(places == ["\(file):\(first)", "\(file):\(first + 1)"])
        #expect(entries.withLock { $0.allSatisfy { $0.level == .error && $0.metadata["items"] == "Note" } })
        #expect(store.isEmpty)
    }

    @Test func `is reported when its last reference is released`() async throws {
        let store = store(engine)
        var held: Store<Note>.Operation? = try await store.insert(Note(id: "a"))
        _ = try await held?.remove(Note(id: "b")).add(notes("c")).removeAll()
        #expect(places.isEmpty)
        held = nil
        #expect(places.count == 1)
    }

    @Test func `is not reported if running it has failed, or it has run`() async throws {
        let store = store(FaultInjectingStorageEngine(WithoutLog(engine), faults: [.fail(.writes, .number(1))]))
        await #expect(throws: StorageError.self) { try await store.removeAll().insert(Note(id: "a")).run() }
        try await store.add(Note(id: "a")).add(notes("b")).remove(notes("c")).remove(id: "d").run()
        #expect(places.isEmpty)
    }
}
