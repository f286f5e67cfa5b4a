import Bodega

/// The items of which a query can't say whether they match.
final class LeftOutItems: Sendable {
    private let others = Locked<Set<CacheKey>>([])

    /// The items that can't be read, or are encrypted.
    let unreadable = UnreadableItems()

    /// The number of items that are not JSON.
    var count: Int { others.withLock { $0.count } }

    /// Adds an item that is not JSON, once: an engine that repeats a read passes it on again.
    func add(_ item: StorageItem) {
        if EncryptedItem.hasForm(item.data) { return unreadable.addEncrypted(item.key) }
        others.withLock { _ = $0.insert(item.key) }
    }
}
