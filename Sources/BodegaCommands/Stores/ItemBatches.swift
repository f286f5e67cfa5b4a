import Bodega
import Foundation

/// All items of a store in batches, so that a store larger than memory can be read.
///
/// It holds all keys, and about 16 MiB of values. Items removed or added during the iteration are left out.
struct ItemBatches: AsyncSequence, AsyncIteratorProtocol {
    /// The approximate number of bytes in a batch.
    private let targetBytes = 16 * 1024 * 1024
    private let maximumCount = 4096

    private let keys: [CacheKey]
    private let fields: StorageFields
    private let engine: any StorageBackend
    private let unreadable: UnreadableItems?
    private var position = 0
    private var count = 32

    /// Reads items in the order of their keys.
    ///
    /// - Parameters:
    ///   - fields: The parts of the items.
    ///   - engine: The engine that holds the items.
    ///   - unreadable: Receives the items that can't be read, or whose dates can't be. Without it, such an item ends
    ///     the iteration with its error.
    init(
        of keys: [CacheKey], _ fields: StorageFields = .data, in engine: any StorageBackend,
        unreadable: UnreadableItems? = nil
    ) {
        (self.keys, self.fields, self.engine, self.unreadable) = (keys, fields, engine, unreadable)
    }

    func makeAsyncIterator() -> ItemBatches { self }

    mutating func next() async throws -> [StorageItem]? {
        guard position < keys.count else { return nil }
        let end = Swift.min(position + count, keys.count)
        let items = try await readable(Array(keys[position..<end]))
        position = end
        // The next batch assumes items of the same average size. It at most doubles, in case they are larger.
        let average = Swift.max(1, items.byteCount / Swift.max(1, items.count))
        count = Swift.max(1, Swift.min(targetBytes / average, count * 2, maximumCount))
        return items
    }

    private func readable(_ keys: [CacheKey]) async throws -> [StorageItem] {
        guard let unreadable, fields.contains(.dates) else { return try await fetch(keys) }
        do {
            return try await fetch(keys)
        } catch let error as StorageError where error.key != nil {
            // Not even the rest can be read together, for example because another program has written a date.
            var found: [StorageItem] = []
            for key in keys {
                try await unreadable.collecting { found += try await fetch([key]) }
            }
            return found
        }
    }

    private func fetch(_ keys: [CacheKey]) async throws -> [StorageItem] {
        let request = FetchRequest(keys, fields, options: ReadOptions(omitsUnreadable: unreadable != nil))
        let answer = try await engine.fetch(request)
        for error in answer.report.unreadable { unreadable?.add(error) }
        return answer.value
    }
}
