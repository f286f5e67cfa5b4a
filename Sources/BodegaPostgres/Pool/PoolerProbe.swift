#if Postgres
import Bodega
import Foundation

/// Detects a pooler that gives each transaction another server session, as PgBouncer does in transaction mode.
///
/// Prepared statements, notifications and settings need one session for as long as the connection lasts.
enum PoolerProbe {

    /// Checks that a connection keeps its session.
    ///
    /// - Throws: A ``/Bodega/StorageError`` of code ``/Bodega/StorageError/Code/cannotOpen`` if it does not.
    static func check(_ session: Session, _ pool: SessionPool, patience: TimeInterval) async throws {
        let first = try await process(of: session, patience)
        // A pooler reports a process number of its own. Without a pooler, the probe costs this one round trip.
        if first == session.backend.process { return }
        pool.notePooler()
        // A transaction on another connection takes over the session of this one.
        let other = try await pool.makeSession()
        do {
            _ = try await other.run([Command(Statement("BEGIN")), Command(Statement("SELECT 1"))], patience: patience)
        } catch {
            throw pool.explained(error)
        }
        var later = [try await process(of: session, patience)]
        _ = try await other.run(.rollback, patience: patience)
        // A pooler that takes turns comes to the other session now.
        for _ in 0..<3 { later.append(try await process(of: session, patience)) }
        guard later.allSatisfy({ $0 == first }) else {
            throw StorageError(.cannotOpen, StorageError.poolerMessage)
        }
    }

    private static func process(of session: Session, _ patience: TimeInterval) async throws -> Int32 {
        try await session.run(Command(Statement("SELECT pg_backend_pid()")), patience: patience).number(0, 0)
    }
}
#endif
