#if Postgres
public import Bodega
import Foundation

extension PostgresStorageEngine: DatedStorageEngine {

    public func fetchItems(keys: [CacheKey]) async throws -> [StorageItem] {
        let found = try await rows(of: keys, ItemStatements.itemsOfMany) { rows, row in
            (try rows.data(row, 1), ItemDate.dates(try rows.number(row, 2), try rows.number(row, 3)))
        }
        return found.map { StorageItem(key: keys[$0.index], data: $0.value.0, dates: $0.value.1) }
    }

    public func fetchAllDates() async throws -> [(key: CacheKey, dates: StorageDates)] {
        try await scan([.key, .dates]) { row in (try row.key(), try row.dates()) }
    }

    public func write(items: [StorageItem]) async throws {
        var plan = WritePlan.Builder(shards: shards)
        for item in items {
            plan.write(
                item.data,
                item.key,
                created: ItemDate.number(of: item.dates.createdAt),
                updated: ItemDate.number(of: item.dates.updatedAt)
            )
        }
        try await apply(.many(plan.finish(settingDates: true)))
    }
}
#endif
