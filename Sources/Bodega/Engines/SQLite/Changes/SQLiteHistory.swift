import Foundation
import GRDB
import Logging

/// Reads the history of a collection on behalf of an engine.
struct SQLiteHistory: Sendable {
    private let file: SQLiteFile
    private let table: SQLiteTable
    private let log: SQLiteChangeLog

    init(of table: SQLiteTable, in file: SQLiteFile) {
        self.file = file
        self.table = table
        self.log = table.log
    }

    /// Begins the history inside of a transaction, unless somebody has meanwhile.
    func begin(in db: Database) throws {
        if try log.isKept(in: db) { return }
        // Another program may have made the table anew, as Bodega knows it.
        if try !table.isComplete(in: db) { try table.create(in: db) }
        try log.begin(in: db)
    }

    /// Notes who in this process changes the collection from now on, before the history is read.
    ///
    /// - Returns: Whether writes may be under way that are not noted. They are over when an empty one is.
    func keep() -> Bool {
        let authorship = file.authorship
        authorship.keep(table)
        guard case .pool = file.connections else { return false }
        return !authorship.areComplete(table)
    }

    /// Notes that an empty write has waited for all that were under way, or has failed.
    func waited(_ result: Result<Void, any Error>) throws {
        do {
            try result.get()
            file.authorship.withOrigins(of: table) { $0.areComplete = true }
        } catch let error as StorageError where error.code == .locked {
            // Another program holds the lock all the time, so no write of ours can be under way for long.
            bodegaLogger.debug("Writes under way could not be waited for.", metadata: ["file": "\(file.url.path)"])
        }
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
    func delta(since cursor: StorageCursor, excluding origin: StorageOrigin?, in db: Database) throws -> StorageDelta? {
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

    /// All changes after a cursor, and the items under the keys that others have written; `nil` if it is not known.
    func changedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?, in db: Database
    ) throws -> StorageChangedItems? {
        guard var news = try delta(since: cursor, excluding: origin, in: db) else { return nil }
        while !news.isComplete {
            guard let next = try delta(since: news.cursor, excluding: nil, in: db) else { return nil }
            news.append(next)
        }
        let items = try table.items(of: Array(news.keysWritten(excluding: origin)), in: db)
        return StorageChangedItems(changes: news.changes, items: items, cursor: news.cursor)
    }

    private func isKept(in db: Database) throws -> Bool {
        // Another file may have come to the place of one that is only read.
        if case .reader = file.connections { return try log.isKept(in: db) }
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        return try file.knownLogs.isKept(log, schema: schema, in: db)
    }

    /// Who in this process has written which of some rows, in the order of their numbers.
    private func notes(about numbers: ClosedRange<Int>, in db: Database) throws -> [SQLiteOrigins.Note] {
        // The log is asked without the lock, which those who write wait for.
        let known = file.authorship.withOrigins(of: table) { $0.notes(about: numbers) }
        var notes = try known.pending.filter { try log.has($0.last, in: db) }
        if let proof = known.proof, try log.has(proof, in: db) { notes += known.settled }
        return notes.sorted { $0.first < $1.first }
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
