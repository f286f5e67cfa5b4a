import Bodega
import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Several synchronizations of one file, as those of an app and of its extensions.
@Suite struct SharedFileTests {
    private let workspace: StorageEngineConformance.Workspace
    private let server = MemoryStorageEngine()

    init() throws { workspace = try StorageEngineConformance.Workspace() }

    private func sync() async throws -> StorageSync {
        let (file, server) = (try SQLiteStorageEngine(opening: workspace.directory), server)
        return try await StorageSync(
            local: { try file.collection(named: $0) }, remote: { server.collection(named: $0) })
    }

    @Test func `Two synchronizations of a file send each change once and show those of others`() async throws {
        let onServer = server.collection(named: "notes")
        var generator = SeededGenerator(seed: Seed.current)
        let syncs = [try await sync(), try await sync()]
        let engines = [
            try await syncs[0].collection(named: "notes"), try await syncs[1].collection(named: "notes"),
        ]
        let writers = (0..<2).map { number in
            let seed = generator.next()
            return Task {
                var generator = SeededGenerator(seed: seed)
                for step in 0..<60 {
                    let key = CacheKey("\(Int.random(in: 0..<8, using: &generator))")
                    let data = Data(#"{"writer":\#(number),"step":\#(step)}"#.utf8)
                    try await engines[number].write(data, key: key)
                }
            }
        }
        for number in 0..<20 {
            try await onServer.write(Data(#"{"other":\#(number),"step":0}"#.utf8), key: CacheKey("other \(number)"))
        }
        for writer in writers { try await writer.value }
        for sync in syncs { try await sync.settled() }
        for sync in syncs { try await sync.settled() }
        let expected = Dictionary(try await onServer.fetchAll().map { ($0.key, $0.data) }) { first, _ in first }
        for engine in engines {
            let items = Dictionary(try await engine.fetchAll().map { ($0.key, $0.data) }) { first, _ in first }
            #expect(items == expected)
        }
        #expect(expected.count > 20)
        for sync in syncs { #expect(try await sync.pending().isEmpty) }
    }

    @Test func `Records of an outbox are found again under hostile keys`() async throws {
        let sync = try await sync()
        await sync.pause()
        let notes = try await sync.collection(named: "a/b%")
        for (number, text) in HostileTexts.all.enumerated() {
            try await notes.write(Data("\(number)".utf8), key: CacheKey(text))
        }
        let pending = try await sync.pending()
        #expect(pending.count == HostileTexts.all.count)
        #expect(Set(pending.map(\.key)) == Set(HostileTexts.all.map { CacheKey($0) }))
        for text in HostileTexts.all { try await sync.discard(CacheKey(text), in: "a/b%") }
        #expect(try await sync.pending().isEmpty)
        #expect(try await notes.fetchCount() == 0)
    }
}
