package import Bodega
package import Foundation

/// An engine with only the five required members.
package struct PlainEngine: ThrowingStorageEngine {
    private let base: any StorageEngine

    package init(_ base: any StorageEngine) { self.base = base }

    package func fetch(key: CacheKey) async throws -> Data? { try await base.fetch(key: key) }
    package func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await base.fetchAll() }
    package func fetchKeys() async throws -> [CacheKey] { try await base.fetchKeys() }
    package func fetchDates(key: CacheKey) async throws -> StorageDates? { try await base.fetchDates(key: key) }
    package func apply(_ operations: [StorageOperation]) async throws { try await base.apply(operations) }
}
