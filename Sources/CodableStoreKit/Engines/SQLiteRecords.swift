import Bodega
import Foundation

/// Records in a collection of an SQLite file.
final class SQLiteRecords: RecordCollection {

    private let collection: SQLiteCollection

    init(_ collection: SQLiteCollection) {
        self.collection = collection
    }

    /// The keys of a Boutique store whose items have these identifiers.
    func key(_ text: String) -> CacheKey { CacheKey(text) }

    func data(of key: CacheKey) throws -> Data? { try collection.data(of: key) }

    func contains(_ key: CacheKey) throws -> Bool { try collection.contains(key) }

    func items() throws -> [(key: CacheKey, data: Data)] { try collection.allItems() }

    func file(of key: CacheKey) -> URL? { collection.url }

    func update(
        _ body: @escaping @Sendable (any RecordContents) throws -> [StorageOperation],
        committed: @escaping @Sendable () -> Void
    ) throws {
        try collection.update(at: Date(), { try body($0) }, committed: committed)
    }

    func follow(_ tell: @escaping @Sendable ([SQLiteEffect]) -> Void) -> (@Sendable () -> Void)? {
        collection.follow(tell)
    }
}
