import Bodega
import Foundation

struct StorageEngineModel {

    struct Entry {
        let key: CacheKey
        var data: Data
        var dates: StorageDates
    }

    private(set) var entries: [Entry] = []

    var items: [Item] { entries.map { ($0.key, $0.data) } }

    func entry(_ key: CacheKey) -> Entry? { entries.first { $0.key == key } }

    func items(_ keys: [CacheKey]) -> [Item] {
        keys.compactMap { key in entry(key).map { (key, $0.data) } }
    }

    mutating func apply(_ operations: [StorageOperation], at date: Date) {
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                if let index = entries.firstIndex(where: { $0.key == key }) {
                    entries[index].data = data
                    entries[index].dates.updatedAt = date
                } else {
                    let dates = StorageDates(createdAt: date, updatedAt: date)
                    entries.append(Entry(key: key, data: data, dates: dates))
                }
            case .remove(let key): entries.removeAll { $0.key == key }
            case .removeAll: entries = []
            }
        }
    }
}
