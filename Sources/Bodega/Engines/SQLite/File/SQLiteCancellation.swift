import GRDB
import GRDBSQLite

/// Ends what a connection does for a task when the task is cancelled, or after a time, also in the middle of a
/// statement.
///
/// The task's cancellation sets a mark. SQLite looks at it every few hundred steps of its virtual machine, which is at
/// least once in a hundred rows. `sqlite3_interrupt` would be lost if it came between two statements.
final class SQLiteCancellation: Sendable {

    /// The error of work that has taken too long.
    struct Overdue: Error {}

    private struct State {
        var isRequested = false
        /// When the work must end.
        var end: ContinuousClock.Instant?

        var mustEnd: Bool { isRequested || end.map { $0 <= .now } ?? false }
    }

    private let state = Locked(State())

    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Ends the work that ``watch(_:for:_:)`` runs.
    func request() { state.withLock { $0.isRequested = true } }

    private var mustEnd: Bool { state.withLock { $0.mustEnd } }

    /// Throws if the task was cancelled, or the time is over.
    func check() throws {
        let (mustEnd, isRequested) = state.withLock { ($0.mustEnd, $0.isRequested) }
        if isRequested { throw CancellationError() }
        if mustEnd { throw Overdue() }
    }

    /// Uses a connection. A statement that runs when the task is cancelled, or the time is over, fails.
    ///
    /// - Parameter time: The time after which the work must end; `nil` if it need not.
    func watch<Value>(_ db: Database, for time: Duration? = nil, _ body: () throws -> Value) throws -> Value {
        state.withLock { $0.end = time.map { .now + $0 } }
        try check()
        guard let connection = db.sqliteConnection else { return try body() }
        // The handler is removed before this object can be released.
        sqlite3_progress_handler(
            connection, 500,
            { mark in
                guard let mark else { return 0 }
                return Unmanaged<SQLiteCancellation>.fromOpaque(mark).takeUnretainedValue().mustEnd ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(self, body)
    }
}

extension SQLiteFile {

    /// Reads like ``readMany(_:)`` until the caller's task is cancelled.
    ///
    /// - Parameters:
    ///   - isShort: Whether to try it on the caller's thread first, see ``readShortly(_:_:)``.
    ///   - body: Reads. It should look at the cancellation between rows, and may run more than once.
    /// - Throws: `CancellationError` if the task was cancelled before the read was complete.
    func readUntilCancelled<Value: Sendable>(
        isShort: Bool = false, _ body: @escaping @Sendable (Database, SQLiteCancellation) throws -> Value
    ) async throws -> Value {
        try await untilCancelled { cancellation in
            if isShort, let value = await readShortly(cancellation, { try body($0, cancellation) }) { return value }
            return try await readMany { db in try cancellation.watch(db) { try body(db, cancellation) } }
        }
    }

    /// Changes something other than items like ``writeUnreported(_:)``, unless the caller's task is cancelled before.
    func writeUntilCancelled(_ work: @escaping SQLiteGroupCommit.Work) async throws {
        try await untilCancelled { cancellation in
            try await writeUnreported { db in try cancellation.watch(db) { try work(db) } }
        }
    }

    /// Runs an operation, of which ``SQLiteCancellation/watch(_:for:_:)`` runs statements, until the caller's task is
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
