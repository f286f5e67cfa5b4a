import GRDB

extension SQLiteTable {

    /// Passes on the items that match a search, in its order.
    func search(
        _ search: StorageSearch, _ fields: StorageFields, in db: Database, _ receive: (StorageItem) throws -> Bool
    ) throws {
        let reading = try SQLiteSearch(search, of: self, in: db)
        let columns = SQLiteItemColumns(fields.union(.place))
        let statement = try SQLiteStatement("SELECT key, kind, \(columns.sql) FROM \(name) WHERE rowid = ?1", in: db)
        func pass(_ place: StoragePlace) throws -> Bool {
            defer { statement.reset() }
            try statement.bind(place.position, at: 1)
            guard try statement.step() else { return true }
            var item = try Self.item(columns, in: statement)
            item.sortKey = place.sortKey
            return try receive(item)
        }
        guard let relevance = search.relevance else {
            return try reading.forEachRow { try pass(StoragePlace(position: $0)) }
        }
        var places = try reading.places(by: relevance)
        while let place = places.next() { if try !pass(place) { return } }
    }
}
