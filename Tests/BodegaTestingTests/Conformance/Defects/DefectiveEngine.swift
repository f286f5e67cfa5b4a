import Bodega
import Foundation

/// An engine whose items are in memory and can be read without a defect.
protocol DefectiveEngine: ThrowingStorageEngine {
    var storage: MemoryStorageEngine { get }
}

extension DefectiveEngine {
    func fetch(key: CacheKey) async throws -> Data? { try await storage.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await storage.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await storage.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await storage.fetchDates(key: key) }
}
