import GRDB
import GRDBSQLite

/// Ends what a connection does for a task when the task is cancelled, also in the middle of a statement.
///
/// The task's cancellation sets a mark. SQLite looks at it every few hundred steps of its virtual machine, which is at
/// least once in a hundred rows. `sqlite3_interrupt` would be lost if it came between two statements.
final class SQLiteCancellation: Sendable {
    private let mark = Locked(false)

    var isRequested: Bool { mark.withLock { $0 } }

    /// Ends the work that ``watch(_:_:)`` runs.
    func request() { mark.withLock { $0 = true } }

    /// Throws if the task was cancelled.
    func check() throws {
        if isRequested { throw CancellationError() }
    }

    /// Uses a connection. A statement that runs when the task is cancelled fails.
    func watch<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
        try check()
        guard let connection = db.sqliteConnection else { return try body() }
        // The handler is removed before this object can be released.
        sqlite3_progress_handler(
            connection, 500,
            { mark in
                guard let mark else { return 0 }
                return Unmanaged<SQLiteCancellation>.fromOpaque(mark).takeUnretainedValue().isRequested ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(self, body)
    }
}

extension SQLiteFile {

    /// Reads like ``readMany(_:)`` until the caller's task is cancelled.
    ///
    /// - Parameter body: Reads. It should look at the cancellation between rows.
    /// - Throws: `CancellationError` if the task was cancelled before the read was complete.
    func readUntilCancelled<Value: Sendable>(
        _ body: @escaping @Sendable (Database, SQLiteCancellation) throws -> Value
    ) async throws -> Value {
        try await untilCancelled { cancellation in
            try await readMany { db in try cancellation.watch(db) { try body(db, cancellation) } }
        }
    }

    /// Changes something other than items like ``writeUnreported(_:)``, unless the caller's task is cancelled before.
    func writeUntilCancelled(_ work: @escaping SQLiteGroupCommit.Work) async throws {
        try await untilCancelled { cancellation in
            try await writeUnreported { db in try cancellation.watch(db) { try work(db) } }
        }
    }

    /// Runs an operation, of which ``SQLiteCancellation/watch(_:_:)`` runs statements, until the caller's task is
    /// cancelled.
    func untilCancelled<Value: Sendable>(
        _ body: (SQLiteCancellation) async throws -> Value
    ) async throws -> Value {
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            do {
                return try await body(cancellation)
            } catch  where cancellation.isRequested {
                throw CancellationError()
            }
        } onCancel: {
            cancellation.request()
        }
    }
}
