import Bodega
import Foundation
import Testing

/// An actor may implement the members of an engine synchronously. In its asynchronous methods, the compiler then takes
/// the asynchronous defaults for its own members, which must lead back to these.
@Suite struct OwnMemberTests {

    private actor Engine: ThrowingStorageEngine {
        private(set) var batches: [Int] = []

        func fetch(key: CacheKey) throws -> Data? { throw StorageError(.damaged, "item") }
        func fetchAll() throws -> [(key: CacheKey, data: Data)] { throw StorageError(.damaged, "items") }
        func fetchKeys() throws -> [CacheKey] { throw StorageError(.damaged, "keys") }
        func fetchDates(key: CacheKey) throws -> StorageDates? { throw StorageError(.damaged, "dates") }
        func apply(_ operations: [StorageOperation]) throws { batches.append(operations.count) }

        func callAll() async throws -> [String] {
            let calls: [@Sendable (isolated Engine) async throws -> Bool] = [
                { try await $0.fetch(key: CacheKey("a")) == nil },
                { try await $0.fetchAll().isEmpty },
                { try await $0.fetchKeys().isEmpty },
                { try await $0.fetchDates(key: CacheKey("a")) == nil },
            ]
            var messages: [String] = []
            for call in calls {
                do {
                    messages.append("\(try await call(self))")
                } catch let error as StorageError {
                    messages.append(error.message)
                }
            }
            return messages
        }

        func applyLater(_ operations: [StorageOperation]) async throws {
            try await self.apply(operations)
        }
    }

    @Test("The engine's own members are called, with their errors and in one batch")
    func ownMembers() async throws {
        let engine = Engine()
        #expect(try await engine.callAll() == ["item", "items", "keys", "dates"])
        let key = CacheKey("a")
        try await engine.applyLater([.write(key: key, data: Data()), .remove(key: key), .removeAll])
        #expect(await engine.batches == [3])
    }
}
