package import Foundation
import GRDB

/// A change of a collection, for those who follow it.
struct SQLiteChange: Sendable {
    let table: SQLiteTable

    /// Who makes it. Those who leave out their own changes are told apart by this.
    let origin: ObjectIdentifier

    /// Who it is to others who read the history.
    let author: StorageOrigin

    /// What is done, asked for only if somebody follows, after it was done.
    let operations: @Sendable () -> [StorageOperation]

    /// What the operations come to, found out before they are applied.
    func effects(in db: Database) throws -> [SQLiteEffect] {
        var effects: [SQLiteEffect] = []
        // What the operations so far have made of the items, `nil` for a removed one.
        var written: [CacheKey: Data?] = [:]
        for operation in operations() {
            switch operation {
            case .write(let key, let data):
                effects.append(.written(key, data))
                written[key] = .some(data)
            case .remove(let key):
                let before = try written[key] ?? table.value(of: key, in: db)
                if let before { effects.append(.removed(key, before)) }
                written[key] = .some(nil)
            case .removeAll:
                let stored = try table.allItems(in: db)
                for (key, data) in stored {
                    if let before = written[key] ?? data { effects.append(.removed(key, before)) }
                }
                let storedKeys = Set(stored.map(\.key))
                for case (let key, let data?) in written where !storedKeys.contains(key) {
                    effects.append(.removed(key, data))
                }
                for key in storedKeys.union(written.keys) { written[key] = .some(nil) }
            }
        }
        return effects
    }
}

/// What happened to an item.
package enum SQLiteEffect: Sendable {
    /// It was written, with this data.
    case written(CacheKey, Data)
    /// It was removed, and this was its data.
    case removed(CacheKey, Data)
}
