import Bodega
import Foundation
import TestSupport
import Testing

/// A text that equals others regardless of case.
private struct Tag: RawRepresentable, Codable, Equatable, Sendable {
    var rawValue: String

    static func == (left: Tag, right: Tag) -> Bool { left.rawValue.lowercased() == right.rawValue.lowercased() }
}

private struct Tagged: Queryable, Equatable {
    var tag: Tag

    static let indexes = [Index("tag", \Tagged.tag)]
}

@Test func `A type with an equality of its own is found by that, also with an index`() async throws {
    let folder = TemporaryFolder()
    let storage = ObjectStorage<Tagged>(storage: try SQLiteStorageEngine(opening: folder.directory))
    for tag in ["swift", "Swift", "rust"] {
        try await storage.store(Tagged(tag: Tag(rawValue: tag)), forKey: CacheKey(tag))
    }
    let wanted = Tag(rawValue: "SWIFT")
    let query = Query<Tagged>(where: #Predicate { $0.tag == wanted })
    #expect(try await storage.count(query) == 2)
    try await storage.createIndexes()
    #expect(try await storage.fetch(query).objectsAndKeys.map(\.key) == [CacheKey("swift"), CacheKey("Swift")])
    #expect(try await storage.count(query) == 2)
}
