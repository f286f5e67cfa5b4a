import Bodega
import Foundation
import Testing

/// What a scope without the right to read shows.
@Suite struct ScopedRightsTests {
    @Test func `Indexes are not shown without the right to read, nor whether one exists`() async throws {
        let engine = MemoryStorageEngine()
        let (own, other) = (StorageIndex("a"), StorageIndex("b"))
        try await engine.createIndex(own)
        let writer = try #require(engine.scoped(to: StorageScope(rights: [.write])).indexes)
        let reader = try #require(engine.scoped(to: StorageScope(rights: [.read])).indexes)
        #expect(try await reader.fetchIndexes() == [own])
        try await reader.createIndex(own)
        for index in [own, other] {
            let error = await #expect(throws: StorageError.self) { try await writer.createIndex(index) }
            #expect(error?.code == .permissionDenied)
        }
        let error = await #expect(throws: StorageError.self) { try await writer.fetchIndexes() }
        #expect(error?.code == .permissionDenied)
    }
}
