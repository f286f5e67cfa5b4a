import Bodega

/// A difference between two stores: the change that turns an item of the first into that of the second.
struct StoreDifference: Equatable, Sendable {
    /// The kind of a difference.
    enum Change: String, Sendable {
        /// Only the second store has an item.
        case added
        /// Only the first store has an item.
        case removed
        /// Both stores have an item, with different bytes.
        case changed
    }

    var change: Change
    var key: CacheKey
    /// The number of bytes in the first store's item, `nil` if it has none.
    var before: Int?
    /// The number of bytes in the second store's item, `nil` if it has none.
    var after: Int?
}

/// Compares two stores key by key. Dates and order are ignored.
struct StoreComparison {
    let first: any StorageBackend
    let second: any StorageBackend

    /// Finds the differences: those of the first store's items, then the items only in the second, each in its order.
    ///
    /// - Parameters:
    ///   - unreadable: Receives the items that one of the stores can't read. They are not compared.
    ///   - found: Called with each difference.
    /// - Returns: The number of changed items that seem to be encrypted, so that what they contain may be equal.
    @discardableResult
    func run(
        unreadable: UnreadableItems = UnreadableItems(), _ found: (StoreDifference) throws -> Void
    ) async throws -> Int {
        var encrypted = 0
        let keys = try await first.fetchKeys()
        for try await batch in ItemBatches(of: keys, in: first, unreadable: unreadable) {
            let request = FetchRequest(batch.map(\.key), options: ReadOptions(omitsUnreadable: true))
            let read = try await second.fetch(request)
            read.report.unreadable.forEach(unreadable.add)
            let skipped = Set(read.report.unreadable.compactMap(\.key))
            let others = Dictionary(read.value.map { ($0.key, $0.data) }) { $1 }
            for item in batch where !skipped.contains(item.key) {
                let other = others[item.key]
                if other == item.data { continue }
                if let other, EncryptedItem.hasForm(item.data) || EncryptedItem.hasForm(other) { encrypted += 1 }
                let change: StoreDifference.Change = other == nil ? .removed : .changed
                try found(
                    StoreDifference(change: change, key: item.key, before: item.data.count, after: other?.count))
            }
        }
        let known = Set(keys)
        let added = try await second.fetchKeys().filter { !known.contains($0) }
        for try await batch in ItemBatches(of: added, in: second, unreadable: unreadable) {
            for item in batch {
                try found(StoreDifference(change: .added, key: item.key, before: nil, after: item.data.count))
            }
        }
        return encrypted
    }
}
