package import Foundation
import GRDB

/// A change of a collection.
struct SQLiteChange: Sendable {
    let table: SQLiteTable

    /// The engine or collection that makes the change, which is not notified of it.
    let writer: ObjectIdentifier

    /// The origin to record in the log.
    let origin: StorageOrigin

    /// The operations of the change. They are needed only if the collection is observed.
    let operations: @Sendable () throws -> [StorageOperation]

    /// The effects of the operations, determined before they are applied.
    func effects(in db: Database) throws -> [SQLiteEffect] {
        var effects: [SQLiteEffect] = []
        // The data after the operations so far, `nil` for a removed item.
        var written: [CacheKey: Data?] = [:]
        for operation in try operations() {
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

/// The effect of a change on an item.
package enum SQLiteEffect: Sendable {
    /// The item was written, with this data.
    case written(CacheKey, Data)
    /// The item with this data was removed.
    case removed(CacheKey, Data)
}
