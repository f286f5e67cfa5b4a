#if Postgres
import Bodega
import Foundation

/// Finds out whether a connection pooler gives each transaction another session of the server, as PgBouncer does in
/// transaction mode. Prepared statements, notifications and settings need one session for as long as the connection lasts.
enum PoolerProbe {

    /// Makes sure that a connection keeps its session.
    ///
    /// - Throws: A ``StorageError`` of code ``StorageError/Code/cannotOpen`` if it doesn't.
    static func check(_ session: Session, _ pool: SessionPool, patience: TimeInterval) async throws {
        let first = try await process(of: session, patience)
        // A pooler tells its own number. Without one, this is all that opening a database costs more.
        if first == session.backend.process { return }
        // Another connection takes what session this one had, and keeps it.
        let other = try await pool.makeSession()
        _ = try await other.run([Command(Statement("BEGIN")), Command(Statement("SELECT 1"))], patience: patience)
        let second = try await process(of: session, patience)
        _ = try await other.run(Command(Statement("ROLLBACK")), patience: patience)
        if first != second { throw StorageError(.cannotOpen, StorageError.poolerMessage) }
    }

    private static func process(of session: Session, _ patience: TimeInterval) async throws -> Int32 {
        try await session.run(Command(Statement("SELECT pg_backend_pid()")), patience: patience).number(0, 0)
    }
}
#endif
