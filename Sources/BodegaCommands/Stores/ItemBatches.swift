package import Bodega
import Foundation

/// All items of a store in batches, so that a store larger than memory can be read.
///
/// It holds all keys, and about 16 MiB of values. Items removed or added during the iteration are left out.
package struct ItemBatches<Item: Sendable>: AsyncSequence, AsyncIteratorProtocol {
    /// The approximate number of bytes in a batch.
    private let targetBytes = 16 * 1024 * 1024
    private let maximumCount = 4096

    private let keys: [CacheKey]
    private let fetch: @Sendable ([CacheKey]) async throws -> [Item]
    private let size: @Sendable (Item) -> Int
    private var position = 0
    private var count = 32

    private init(
        of keys: [CacheKey],
        size: @escaping @Sendable (Item) -> Int,
        fetch: @escaping @Sendable ([CacheKey]) async throws -> [Item]
    ) {
        self.keys = keys
        self.size = size
        self.fetch = fetch
    }

    package func makeAsyncIterator() -> ItemBatches { self }

    package mutating func next() async throws -> [Item]? {
        guard position < keys.count else { return nil }
        let end = Swift.min(position + count, keys.count)
        let items = try await fetch(Array(keys[position..<end]))
        position = end
        // The next batch assumes items of the same average size. It at most doubles, in case they are larger.
        let bytes = items.reduce(0) { $0 + size($1) }
        let average = Swift.max(1, bytes / Swift.max(1, items.count))
        count = Swift.max(1, Swift.min(targetBytes / average, count * 2, maximumCount))
        return items
    }
}

extension ItemBatches where Item == (key: CacheKey, data: Data) {
    /// Reads items in the order of their keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - engine: The engine that holds the items.
    ///   - unreadable: Receives the items that can't be read. Without it, such an item ends the iteration with its
    ///     error.
    package init(of keys: [CacheKey], in engine: any StorageEngine, unreadable: UnreadableItems? = nil) {
        self.init(of: keys, size: \.data.count) { keys in
            guard let unreadable else { return try await engine.fetch(keys: keys) }
            let read = try await PartialRead(from: engine) { try await $0.fetch(keys: keys) }
            read.unreadable.forEach(unreadable.add)
            return read.value
        }
    }
}

extension ItemBatches where Item == StorageItem {
    /// Reads items with their dates, in the order of their keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - engine: The engine that holds the items.
    ///   - unreadable: Receives the items that can't be read, or whose dates can't be.
    package init(withDatesOf keys: [CacheKey], in engine: any StorageEngine, unreadable: UnreadableItems) {
        self.init(of: keys, size: \.data.count) { keys in
            func items(of keys: [CacheKey]) async throws -> [StorageItem] {
                let read = try await PartialRead(from: engine) { try await $0.itemsWithDates(of: keys) }
                read.unreadable.forEach(unreadable.add)
                return read.value
            }
            do {
                return try await items(of: keys)
            } catch let error as StorageError where error.key != nil {
                // Not even the rest can be read together, for example because another program has written a date.
                var found: [StorageItem] = []
                for key in keys {
                    try await unreadable.collecting { found += try await items(of: [key]) }
                }
                return found
            }
        }
    }
}
