import Bodega
import Foundation
import Logging

extension Store {

    /// Creates an in-memory store for previews and tests. Its items are loaded immediately.
    ///
    /// - Parameters:
    ///   - items: The items. If several have the same identifier, the last one wins, in the place of the first.
    ///   - cacheIdentifier: The key path of the items' identifier.
    public nonisolated static func previewStore(items: [Item], cacheIdentifier: KeyPath<Item, String>) -> Store {
        let coding = RecordCoding(identifier: cacheIdentifier, coder: .json, migration: nil)
        var loaded = LoadedRecords<Item>()
        var records: [(key: CacheKey, data: Data)] = []
        for (item, encoded) in zip(items, coding.encode(items[...])) {
            loaded.contents.insert(item, under: encoded.key)
            switch encoded.data {
            case .success(let data):
                records.append((encoded.key, data))
            case .failure(let error):
                boutiqueLogger.error(
                    "An item of a preview store could not be encoded. The store shows it, but a reload loses it.",
                    metadata: ["error": "\(error)"])
            }
        }
        return Store(RecordStorage(engine: MemoryStorageEngine(items: records), coding: coding), showing: loaded)
    }
}

extension Store where Item: Identifiable, Item.ID == String {

    /// Creates an in-memory store for previews and tests. Its items are loaded immediately.
    ///
    /// - Parameter items: The items. If several have the same identifier, the last one wins, in the place of the first.
    public nonisolated static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id)
    }
}

extension Store where Item: Identifiable, Item.ID: StoreIdentifier {

    /// Creates an in-memory store for previews and tests. Its items are loaded immediately.
    ///
    /// - Parameter items: The items. If several have the same identifier, the last one wins, in the place of the first.
    public nonisolated static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id.identifierText)
    }
}
