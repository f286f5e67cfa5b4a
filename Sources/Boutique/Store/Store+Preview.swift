import Bodega
public import Foundation
import Logging

extension Store {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameters:
    ///   - items: The items. Of several with one identifier the last wins, at the place of the first.
    ///   - cacheIdentifier: What identifies an item.
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
                boutiqueLogger.error("An item of a preview could not be encoded.", metadata: ["error": "\(error)"])
            }
        }
        return Store(RecordStorage(engine: MemoryStorageEngine(items: records), coding: coding), showing: loaded)
    }
}

extension Store where Item: Identifiable, Item.ID == String {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    public nonisolated static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    public nonisolated static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id.uuidString)
    }
}
