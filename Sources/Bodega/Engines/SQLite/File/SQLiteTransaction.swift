import Foundation
import GRDB

/// A transaction of a file in which the blocking operations of one thread take part.
///
/// 1. ``SQLiteFile/blockingTransaction(_:)`` waits for the connection that writes, and begins an immediate transaction.
/// 2. While its closure runs, the blocking reads and writes of the thread use that connection. A write, and a
///    transaction within the transaction, is a savepoint, so that it is undone alone if it fails.
/// 3. ``finish()`` marks the changes in the logs if they are of several collections.
/// 4. After the commit, still on the connection, ``noteCommit()`` calls `committed` of each write, in order.
///
/// A collection that the transaction creates is unknown to other threads until then: after a rollback, its table's name
/// could become that of another collection.
final class SQLiteTransaction {

    /// Changes of a collection by one origin.
    private struct Changes {
        let log: SQLiteLog
        let origin: StorageOrigin
        /// The end of the log before, `nil` if there was none.
        let start: SQLiteLog.Row?
    }

    private struct State {
        /// The tables of collections, and where each is known outside of the transaction.
        var tables: [ObjectIdentifier: (known: Locked<SQLiteTable?>, table: SQLiteTable?)] = [:]
        /// By the names of the tables.
        var changes: [String: [Changes]] = [:]
        /// Where the last change of each collection has ended, by where its table is known.
        var places: [ObjectIdentifier: SQLiteFollowedState] = [:]
    }

    private let file: SQLiteFile
    private let db: Database
    private var state = State()
    /// What is called after the commit. It is no part of the state, whose copies would make a change take longer the
    /// more there were before.
    private var committed: [() -> Void] = []
    /// The place of the last change in the log, `nil` if there is no log.
    private(set) var lastCommit: StorageCommit?
    /// Why the transaction can't be committed: an error has ended it, or could not be undone alone.
    private var causeOfEnd: StorageError?
    private var hasUndone = false

    /// - Parameters:
    ///   - file: The file.
    ///   - db: The connection that writes, on which a transaction has begun.
    init(of file: SQLiteFile, on db: Database) { (self.file, self.db) = (file, db) }

    /// Checks that the transaction still exists. Otherwise, each statement would be committed alone.
    private func checkExistence() throws {
        if let causeOfEnd { throw causeOfEnd }
        if db.isInsideTransaction { return }
        throw StorageError(.inputOutput, "SQLite has rolled the transaction back.", file: file.url)
    }

    /// Reads what is stored, with the changes of the transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try checkExistence()
        return try body(db)
    }

    /// Runs a closure, and undoes its changes if it throws.
    func nested<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try checkExistence()
        let (before, count) = (state, committed.count)
        try run("SAVEPOINT emporium")
        do {
            let value = try body(db)
            try checkExistence()
            try run("RELEASE emporium")
            return value
        } catch {
            // Recognized now, before SQLite undoes the changes.
            let error = StorageError.limitReached(error) ?? error
            (state, hasUndone) = (before, true)
            committed.removeLast(committed.count - count)
            undo(error)
            // What was found in the savepoint may have been undone with it.
            file.logs.forget()
            throw error
        }
    }

    /// Undoes the changes since the last savepoint. If that fails, nothing can be committed.
    private func undo(_ error: any Error) {
        do {
            // SQLite rolls the whole transaction back after some errors.
            guard db.isInsideTransaction else { throw error }
            try run("ROLLBACK TO emporium")
            try run("RELEASE emporium")
        } catch {
            causeOfEnd = causeOfEnd ?? file.storageError(error)
        }
    }

    private func run(_ sql: String) throws {
        let statement = try SQLiteStatement(sql, in: db)
        defer { statement.reset() }
        do {
            _ = try statement.step()
        } catch {
            throw file.storageError(error)
        }
    }

    /// Changes a collection.
    ///
    /// - Parameters:
    ///   - table: The collection's table.
    ///   - origin: The origin that the change has recorded in the log.
    ///   - change: Carries the change out, and returns its place in the log, `nil` if there is no log.
    ///   - committed: Called when the transaction is committed.
    func write(
        to table: SQLiteTable, by origin: StorageOrigin, _ change: (Database) throws -> StorageCommit?,
        committed: @escaping () -> Void
    ) throws {
        try nested { db in
            let count = db.totalChangesCount
            lastCommit = try change(db)
            let start = lastCommit.flatMap { SQLiteLog.Row($0.before) }
            if db.totalChangesCount != count { note(Changes(log: table.log, origin: origin, start: start), of: table) }
            self.committed.append(committed)
        }
    }

    private func note(_ changes: Changes, of table: SQLiteTable) {
        let known = state.changes[table.name]?.last
        // Later changes by the same origin are marked together with these.
        if let known, known.start != nil || changes.start == nil, known.origin.id == changes.origin.id { return }
        state.changes[table.name, default: []].append(changes)
    }

    /// The table of a collection that the transaction has noted, `.some(nil)` if it is missing.
    ///
    /// - Parameter known: Where the table is known outside of the transaction.
    func table(insteadOf known: Locked<SQLiteTable?>) -> SQLiteTable?? {
        state.tables[ObjectIdentifier(known)].map { $0.table }
    }

    /// Notes the table of a collection, `nil` if it was removed.
    func note(_ table: SQLiteTable?, insteadOf known: Locked<SQLiteTable?>) {
        state.tables[ObjectIdentifier(known)] = (known, table)
    }

    /// Where the last change of a collection has ended, `nil` if there was none, or none with a log.
    func place(insteadOf known: Locked<SQLiteTable?>) -> SQLiteFollowedState? { state.places[ObjectIdentifier(known)] }

    /// Notes where the last change of a collection has ended.
    func note(_ place: SQLiteFollowedState, insteadOf known: Locked<SQLiteTable?>) {
        state.places[ObjectIdentifier(known)] = place
    }

    /// Prepares the commit.
    func finish() throws {
        try checkExistence()
        if state.changes.count < 2 { return }
        for changes in state.changes.values.joined() {
            // A log is removed with its collection.
            guard let start = changes.start, try changes.log.endIfThere(in: db) != nil else { continue }
            try changes.log.markShared(changes.origin, ofChangesAfter: start, in: db)
        }
    }

    /// Publishes what the transaction has changed, on its connection.
    func noteCommit() {
        if hasUndone { file.logs.forget() }
        for (known, table) in state.tables.values { known.withLock { $0 = table } }
        for call in committed { call() }
    }
}

extension SQLiteFile {

    /// The transaction of the calling thread, `nil` if it has none of this file.
    var transaction: SQLiteTransaction? {
        guard let current = ThreadTransaction.current, current.place === self else { return nil }
        return current.details as? SQLiteTransaction
    }

    /// Runs a closure in an immediate transaction of its own, in which the blocking operations of its thread take part,
    /// and returns when it is committed. Within another transaction of the thread, it is a part of that.
    ///
    /// - Parameter body: The closure. It runs once, on the calling thread.
    /// - Throws: The error of the closure, or a ``StorageError``. Nothing is changed then.
    func blockingTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        try ThreadTransaction.checkUse(of: self)
        if let transaction { return try transaction.nested { _ in try body() } }
        var ofThread: ThreadTransaction?
        // Observers are called without any lock.
        defer { ofThread?.end() }
        return try turn.withLock {
            var failure: (any Error)?
            do {
                let (writer, commits) = try blockingWritable()
                return try commits.blockingTransaction(on: writer) { db in
                    let transaction = SQLiteTransaction(of: self, on: db)
                    let new = ThreadTransaction(of: self, transaction)
                    ofThread = new
                    let result = new.run { Result { try body() } }
                    if case .failure(let error) = result { failure = error }
                    let value = try result.get()
                    try transaction.finish()
                    return (value, transaction)
                } committed: {
                    $1.noteCommit()
                }.0
            } catch {
                throw failure ?? storageError(error)
            }
        }
    }
}
