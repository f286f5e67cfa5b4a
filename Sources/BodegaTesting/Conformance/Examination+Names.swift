import Bodega
import Foundation

extension Examination {

    /// The key that a check means by a name: the same each time, another one for each name, and made of the next one of the
    /// configuration's texts, as long as there are any.
    func key(_ name: String) -> CacheKey {
        keyOfName.withLock { keys in
            if let known = keys.byName[name] { return known }
            let all = configuration.keyTexts
            let isLeft = keys.byName.count < all.count
            // Neighbours are alike.
            var key = CacheKey(isLeft ? all[keys.byName.count] : (all.first ?? "") + name)
            while !keys.used.insert(key).inserted { key = CacheKey(key.rawValue + "'") }
            keys.byName[name] = key
            return key
        }
    }

    /// Items whose data are their names.
    func items(_ names: String...) -> [Item] { names.map { (key($0), bytes($0)) } }

    /// What writing under some names should be told as.
    func written(_ names: String...) -> [StorageChange] { names.map { StorageChange(key: key($0), kind: .written) } }

    /// What removing under some names should be told as.
    func removed(_ names: String...) -> [StorageChange] { names.map { StorageChange(key: key($0), kind: .removed) } }

    /// Changes in the order of the bytes of their keys, where engines need not agree on an order.
    func inKeyOrder(_ changes: [StorageChange]) -> [StorageChange] {
        changes.sorted { $0.key.rawValue.utf8.lexicographicallyPrecedes($1.key.rawValue.utf8) }
    }

    /// The keys that a check has used.
    struct Keys {
        var byName: [String: CacheKey] = [:]
        var used: Set<CacheKey> = []
    }
}
