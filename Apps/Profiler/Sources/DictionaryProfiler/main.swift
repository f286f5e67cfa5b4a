import Bodega
import EngineProfiler
import Foundation

/// A minimal engine: a dictionary in an actor.
actor DictionaryEngine: StorageEngine {
    private var items: [CacheKey: Data] = [:]

    func write(_ data: Data, key: CacheKey) { items[key] = data }
    func write(_ pairs: [(key: CacheKey, data: Data)]) { for (key, data) in pairs { items[key] = data } }
    func read(key: CacheKey) -> Data? { items[key] }
    func remove(key: CacheKey) { items[key] = nil }
    func removeAllData() { items = [:] }
    func keyExists(_ key: CacheKey) -> Bool { items[key] != nil }
    func allKeys() -> [CacheKey] { Array(items.keys) }
    func createdAt(key: CacheKey) -> Date? { nil }
    func updatedAt(key: CacheKey) -> Date? { nil }
}

await Profiler.main(engine: "dictionary") { folder in DictionaryEngine() }
