import Foundation
import GRDB

/// Reads the history of a collection on behalf of an engine.
struct SQLiteHistory: Sendable {
    private let file: SQLiteFile
    private let table: SQLiteTable
    private let log: SQLiteChangeLog

    init(of table: SQLiteTable, in file: SQLiteFile) {
        self.file = file
        self.table = table
        self.log = SQLiteChangeLog(of: table)
    }

    /// Begins the history inside of a transaction, unless somebody has meanwhile.
    func begin(in db: Database) throws {
        if try !log.isKept(in: db) { try log.begin(in: db) }
    }

    /// The error of who cannot begin a history.
    func missing() -> StorageError {
        let message =
            "The file keeps no history of the collection, and it was opened for reading only. Follow the collection once "
            + "with an engine that can write."
        return StorageError(.readOnly, message, file: file.url)
    }

    /// The end of the history, `nil` if there is none.
    func end(in db: Database) throws -> SQLiteLogPosition? {
        try SQLiteFile.checkPlace(in: db)
        return try isKept(in: db) ? log.end(in: db) : nil
    }

    /// All items and the end of the history, `nil` if there is none.
    func snapshot(in db: Database) throws -> StorageSnapshot? {
        guard let end = try end(in: db) else { return nil }
        return StorageSnapshot(items: try table.allItems(in: db), cursor: end.cursor)
    }

    /// The next changes after a cursor, `nil` if it is not known.
    func delta(since cursor: StorageCursor, besides origin: StorageOrigin?, in db: Database) throws -> StorageDelta? {
        guard let position = SQLiteLogPosition(cursor), let end = try end(in: db), try log.has(position, in: db) else {
            return nil
        }
        guard position.number < end.number else { return StorageDelta(changes: [], cursor: cursor, isComplete: true) }
        let notes = try notes(about: position.number + 1...end.number, in: db)
        if let origin, notes.cover(position.number + 1...end.number, by: origin) {
            return StorageDelta(changes: [], cursor: end.cursor, isComplete: true)
        }
        guard let part = try log.changes(after: position, in: db) else { return nil }
        var changes = part.changes
        notes.sign(&changes)
        return StorageDelta(changes: changes.map(\.change), cursor: part.last.cursor, isComplete: part.last == end)
    }

    private func isKept(in db: Database) throws -> Bool {
        // Another file may have come to the place of one that is only read.
        if case .reader = file.connections { return try log.isKept(in: db) }
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        return try file.knownLogs.isKept(log, schema: schema, in: db)
    }

    /// Who in this process has written which of some rows, in the order of their numbers.
    private func notes(about numbers: ClosedRange<Int>, in db: Database) throws -> [SQLiteOrigins.Note] {
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        let (certain, uncertain) = try file.authorship.withOrigins(of: table) { origins in
            try origins.confirm(schema: schema) { try log.has($0, in: db) }
            return origins.notes(about: numbers, schema: schema)
        }
        let confirmed = try uncertain.filter { try log.has($0.last, in: db) }
        return (certain + confirmed).sorted { $0.first < $1.first }
    }
}

extension [SQLiteOrigins.Note] {

    /// Whether all rows are of one origin.
    fileprivate func cover(_ numbers: ClosedRange<Int>, by origin: StorageOrigin) -> Bool {
        var next = numbers.lowerBound
        for note in self {
            guard note.origin == origin, note.first <= next else { return false }
            next = Swift.max(next, note.last.number + 1)
        }
        return next > numbers.upperBound
    }

    /// Adds the origins to changes.
    fileprivate func sign(_ changes: inout [(number: Int, change: StorageChange)]) {
        guard let first = changes.first?.number else { return }
        for note in self {
            let range = note.numbers.clamped(to: first...first + changes.count - 1)
            guard range.overlaps(note.numbers) else { continue }
            for number in range { changes[number - first].change.origin = note.origin }
        }
    }
}

/// Which logs were found whole, at which version of the schema.
final class SQLiteKnownLogs: Sendable {
    private let schemas = Locked<[String: Int]>([:])

    /// Whether a log is there, with all that writes it.
    func isKept(_ log: SQLiteChangeLog, schema: Int, in db: Database) throws -> Bool {
        if schemas.withLock({ $0[log.name] == schema }) { return true }
        guard try log.isKept(in: db) else { return false }
        schemas.withLock { $0[log.name] = schema }
        return true
    }
}
