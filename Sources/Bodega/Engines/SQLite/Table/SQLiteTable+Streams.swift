import Foundation
import GRDB

extension SQLiteTable {

    /// The bytes of an item. A large item is copied into a temporary file, because its row can change before it is
    /// read.
    func stream(of key: CacheKey, in db: Database) throws -> StorageByteStream? {
        let found = try Lookup(queries.place, in: db).row(of: key) { row in
            (row: row.integer(at: 0) ?? 0, isBlob: row.integer(at: 1) == 1)
        }
        guard let found else { return nil }
        // Other programs can store values of other types.
        guard found.isBlob else { return try value(of: key, in: db).map { StorageByteStream($0) } }
        let blob = try SQLiteBlob(inTable: plainName, row: found.row, db)
        if blob.count <= StreamFile.partSize { return StorageByteStream(try blob.read(blob.count, at: 0)) }
        let file = try StreamFile.temporary()
        try db.withSmallCache {
            while file.count < blob.count {
                // Blobs are not interrupted.
                try LockHolders.shared.check()
                let part = try blob.read(min(StreamFile.partSize, blob.count - file.count), at: file.count)
                try part.withUnsafeBytes { try file.blockingAppend($0) }
            }
        }
        return StorageByteStream(file)
    }

    /// Writes an item with the bytes of a file, inside of a transaction: a row with as many zeros, then the bytes.
    ///
    /// In a table whose last column is not the value, as in those of Bodega 2, SQLite makes the row in memory. A value
    /// that an index covers can't be written in parts.
    func write(_ file: StreamFile, key: CacheKey, at date: Date, in db: Database) throws {
        if try hasIndexOverValues(in: db) {
            return try write(try file.blockingReadAll(), key: key, at: date, in: db)
        }
        try db.withSmallCache { try writeParts(of: file, key: key, at: date, in: db) }
    }

    private func writeParts(of file: StreamFile, key: CacheKey, at date: Date, in db: Database) throws {
        try writeZeros(count: file.count, key: key, at: date, in: db)
        guard let row = try Lookup(queries.place, in: db).row(of: key, { $0.integer(at: 0) }) ?? nil else {
            throw StorageError(.damaged, "The item's row is missing after it was written. Restore a backup.", key: key)
        }
        let blob = try SQLiteBlob(inTable: plainName, row: row, isWritable: true, db)
        var offset = 0
        while offset < blob.count {
            try LockHolders.shared.check()
            let part = try file.blockingRead(at: offset)
            try blob.write(part, at: offset)
            offset += part.count
        }
    }

    /// Whether any index covers the values, so that SQLite can't write them in parts.
    private func hasIndexOverValues(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(
            "SELECT 1 FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL LIMIT 1",
            in: db)
        defer { statement.reset() }
        return try statement.bind(plainName, at: 1) { try statement.step() }
    }
}
