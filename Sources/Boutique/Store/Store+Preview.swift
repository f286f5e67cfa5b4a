import Bodega
public import Foundation
import Logging

extension Store {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameters:
    ///   - items: The items. Of several with one identifier the last wins, at the place of the first.
    ///   - cacheIdentifier: What identifies an item.
    public static func previewStore(items: [Item], cacheIdentifier: KeyPath<Item, String>) -> Store {
        let coding = RecordCoding(identifier: cacheIdentifier, coder: .json, history: nil)
        var loaded = LoadedRecords<Item>()
        var records: [(key: CacheKey, data: Data)] = []
        for item in items {
            let key = coding.key(of: item)
            loaded.contents.insert(item, under: key)
            do {
                records.append((key, try coding.encode(item, for: key)))
            } catch {
                boutiqueLogger.error("An item of a preview could not be encoded.", metadata: ["error": "\(error)"])
            }
        }
        let store = Store(RecordStorage(engine: MemoryStorageEngine(items: records), coding: coding))
        store.live.show(loaded)
        return store
    }
}

extension Store where Item: Identifiable, Item.ID == String {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    public static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id)
    }
}

extension Store where Item: Identifiable, Item.ID == UUID {

    /// A store that has its items at once and keeps them in memory only: for previews and tests.
    ///
    /// - Parameter items: The items. Of several with one identifier the last wins, at the place of the first.
    public static func previewStore(items: [Item]) -> Store {
        previewStore(items: items, cacheIdentifier: \.id.uuidString)
    }
}
