package import Bodega
package import Foundation

/// All items of a store, some at a time, so that a store larger than memory can be read.
///
/// It holds the keys of all items and the bytes of about ``targetBytes``. Items that are removed meanwhile are left
/// out, and so are those that are added.
package struct ItemBatches: AsyncSequence, AsyncIteratorProtocol {
    /// About how many bytes a batch shall hold.
    static let targetBytes = 16 * 1024 * 1024
    private static let maximumCount = 4096

    private let engine: any StorageEngine
    private let keys: [CacheKey]
    private var position = 0
    private var count = 32

    /// Reads items in the order of their keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - engine: The engine that holds the items.
    package init(of keys: [CacheKey], in engine: any StorageEngine) {
        self.keys = keys
        self.engine = engine
    }

    package func makeAsyncIterator() -> ItemBatches { self }

    package mutating func next() async throws -> [(key: CacheKey, data: Data)]? {
        guard position < keys.count else { return nil }
        let end = Swift.min(position + count, keys.count)
        let items = try await engine.fetch(keys: Array(keys[position..<end]))
        position = end
        // The next batch is sized as if its items were as large as these; it at most doubles, in case they aren't.
        let bytes = items.reduce(0) { $0 + $1.data.count }
        let average = Swift.max(1, bytes / Swift.max(1, items.count))
        count = Swift.max(1, Swift.min(Self.targetBytes / average, count * 2, Self.maximumCount))
        return items
    }
}
