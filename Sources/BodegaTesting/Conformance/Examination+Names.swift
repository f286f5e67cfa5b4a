import Bodega
import Foundation

extension Examination {

    /// The key for a name that a check uses. Each name has its own key, which is always the same. It is made from the
    /// next of the configuration's texts while there are any.
    func key(_ name: String) -> CacheKey {
        keyOfName.withLock { keys in
            if let known = keys.byName[name] { return known }
            let all = configuration.keyTexts
            let isLeft = keys.byName.count < all.count
            // Adjacent texts are similar.
            var key = CacheKey(isLeft ? all[keys.byName.count] : (all.first ?? "") + name)
            while !keys.used.insert(key).inserted { key = CacheKey(key.rawValue + "'") }
            keys.byName[name] = key
            return key
        }
    }

    /// Items whose data is their name.
    func items(_ names: String...) -> [Item] { names.map { (key($0), bytes($0)) } }

    /// A write under the key of a name. If there is no text, the data is the name.
    func write(_ name: String, _ text: String? = nil) -> StorageOperation {
        .write(key: key(name), data: bytes(text ?? name))
    }

    /// A removal of the key of a name.
    func remove(_ name: String) -> StorageOperation { .remove(key: key(name)) }

    /// The expected changes when the items of some names are written.
    func written(_ names: String...) -> [StorageChange] { names.map { StorageChange(key: key($0), kind: .written) } }

    /// The expected changes when the items of some names are removed.
    func removed(_ names: String...) -> [StorageChange] { names.map { StorageChange(key: key($0), kind: .removed) } }

    /// Changes sorted by the bytes of their keys, for cases in which engines may choose the order.
    func inKeyOrder(_ changes: [StorageChange]) -> [StorageChange] {
        changes.sorted { $0.key.rawValue.utf8.lexicographicallyPrecedes($1.key.rawValue.utf8) }
    }

    struct Keys {
        var byName: [String: CacheKey] = [:]
        var used: Set<CacheKey> = []
    }
}
