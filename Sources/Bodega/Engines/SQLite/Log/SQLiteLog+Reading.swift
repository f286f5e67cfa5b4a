import Foundation
import GRDB

extension SQLiteLog {

    /// The maximum number of changes that are read in one part.
    static let partLimit = 10_000

    /// The last row, `nil` if there is none.
    func end(in db: Database) throws -> SQLiteLog.Row? {
        let statement = try SQLiteStatement(endQuery, in: db)
        defer { statement.reset() }
        return try statement.step() ? position(in: statement) : nil
    }

    /// The last row, `nil` if there is none or no log.
    func endIfThere(in db: Database) throws -> SQLiteLog.Row? {
        do {
            return try end(in: db)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_ERROR {
            // SQLite could not prepare the statement.
            return nil
        }
    }

    /// The version of the schema, which SQLite increments whenever a table or a trigger is changed.
    static func schemaVersion(in db: Database) throws -> Int {
        try SQLiteStatement.integer("PRAGMA schema_version", in: db) ?? 0
    }

    /// Whether the log contains a row.
    func has(_ position: SQLiteLog.Row, in db: Database) throws -> Bool {
        try nonce(of: position.number, in: db) == position.nonce
    }

    /// The nonce of the row with a number, `nil` if there is none.
    func nonce(of number: Int, in db: Database) throws -> Int? {
        let statement = try SQLiteStatement(nonceQuery, in: db)
        defer { statement.reset() }
        try statement.bind(number, at: 1)
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    /// Whether a change after a row has another origin than a given one, or none.
    func hasChanges(after position: SQLiteLog.Row, notOf origin: StorageOrigin, in db: Database) throws -> Bool {
        let statement = try SQLiteStatement(othersQuery, in: db)
        defer { statement.reset() }
        try statement.bind(position.number, at: 1)
        try statement.bindCopy(of: origin, at: 2)
        try statement.bindCopy(of: origin.shared, at: 3)
        return try statement.step()
    }

    /// The changes after an existing row, at most ``partLimit``, and the row of the last one.
    ///
    /// - Returns: `nil` if one of them has been removed.
    func changes(
        after position: SQLiteLog.Row,
        in db: Database
    ) throws -> (changes: [StorageChange], last: SQLiteLog.Row)? {
        let columns = "number, nonce, change, key, kind, origin"
        let sql = "SELECT \(columns) FROM main.\(name) WHERE number > ?1 ORDER BY number LIMIT ?2"
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        try statement.bind(position.number, at: 1)
        try statement.bind(Self.partLimit, at: 2)
        var changes: [StorageChange] = []
        var last = position
        while try statement.step() {
            let next = self.position(in: statement)
            guard next.number == last.number + 1 else { return nil }
            last = next
            let key = SQLiteKey.key(text: statement.text(at: 3), kind: statement.integer(at: 4))
            let kind: StorageChange.Kind = statement.integer(at: 2) == Change.removed ? .removed : .written
            changes.append(StorageChange(key: key, kind: kind, origin: statement.origin(at: 5)))
        }
        return (changes, last)
    }

    private func position(in row: SQLiteStatement) -> SQLiteLog.Row {
        SQLiteLog.Row(number: row.integer(at: 0) ?? 0, nonce: row.integer(at: 1) ?? 0)
    }

    /// Records the origin of the changes after a row, inside of a transaction.
    func setOrigin(
        _ origin: StorageOrigin,
        ofChangesAfter position: SQLiteLog.Row,
        in db: Database
    ) throws {
        let statement = try SQLiteStatement(originUpdate, in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: origin, at: 1)
        try statement.bind(position.number, at: 2)
        _ = try statement.step()
    }

    /// Marks the changes of an origin as shared. Those of other origins, such as what follows from a removal, stay.
    func markShared(_ origin: StorageOrigin, ofChangesAfter position: SQLiteLog.Row, in db: Database) throws {
        if origin.isShared { return }
        let statement = try SQLiteStatement(sharing, in: db)
        defer { statement.reset() }
        try statement.bindCopy(of: origin.shared, at: 1)
        try statement.bind(position.number, at: 2)
        try statement.bindCopy(of: origin, at: 3)
        _ = try statement.step()
    }
}

extension SQLiteStatement {

    /// Binds an origin, copied, so that it stays bound.
    func bindCopy(of origin: StorageOrigin?, at index: Int32) throws {
        guard let origin else { return try bindNull(at: index) }
        try withUnsafeBytes(of: origin.id.uuid) { try bindCopy(of: $0, at: index) }
    }

    /// The origin in a column of the current row, `nil` for anything that is not one.
    func origin(at column: Int32) -> StorageOrigin? {
        let bytes = data(at: column)
        guard bytes.count == 16 else { return nil }
        return StorageOrigin(id: UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    }
}
