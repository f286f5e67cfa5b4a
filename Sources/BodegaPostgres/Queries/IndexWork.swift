#if Postgres
import Bodega
import Foundation

/// The steps of creating and removing an index, on a session of their own that holds a lock.
struct IndexWork: Sendable {

    let index: StorageIndex
    let pool: SessionPool
    let retries: Retries
    /// How long an operation may wait, in seconds.
    let timeout: TimeInterval

    private static let lock = "SELECT pg_try_advisory_lock(\(IndexBuilder.lockNumber), $1)"

    /// How long a statement waits for a lock on a table, in milliseconds. Other writers wait behind it.
    private static let briefly = 100

    /// Runs the steps on a session that holds the lock, again after an outage or a conflict.
    func withLock(_ body: (Session, TableCatalog) async throws -> Void) async throws {
        try await retries.untilDone(by: .after(timeout)) { _ in
            // The end of the session releases the lock. It would go on in a pool.
            let session = try await pool.makeSession()
            let catalog = try await TableCatalog.read(session)
            try await takeLock(session, catalog, until: .after(timeout + catalog.timeToBuild))
            // Limits of the user's are for queries.
            for setting in ["statement_timeout", "lock_timeout"] {
                try await run("SET \(setting) = 0", session)
            }
            // Another program may have done something since.
            try await body(session, TableCatalog.read(session))
            try await run("SELECT pg_advisory_unlock_all()", session)
        }
    }

    private func takeLock(_ session: Session, _ catalog: TableCatalog, until deadline: PostgresDeadline) async throws {
        let command = Command(Statement(Self.lock), catalog.identifier)
        var backoff = Backoff.outage
        while try await !session.run(command).flag(0, 0) {
            if deadline.hasPassed {
                throw StorageError(
                    .locked, "Another program is creating or removing an index of the table. Try again when it is done."
                )
            }
            try await retries.clock.sleep(for: backoff.next())
        }
    }

    /// Runs statements in a transaction that waits for locks only briefly, again and again.
    func runBriefly(_ statements: [String], _ session: Session) async throws {
        let deadline = PostgresDeadline.after(timeout)
        var backoff = Backoff.outage
        while true {
            do {
                let all = ["BEGIN", "SET LOCAL lock_timeout = \(Self.briefly)"] + statements + ["COMMIT"]
                _ = try await session.run(all.map { Command(Statement($0)) })
                return
            } catch let failure as PostgresFailure where !failure.endsConnection {
                try await run("ROLLBACK", session)
                guard failure.code == "55P03" || failure.isConflict, !deadline.hasPassed else { throw failure }
                try await retries.clock.sleep(for: backoff.next())
            }
        }
    }

    func run(_ sql: String, _ session: Session, _ patience: TimeInterval? = nil) async throws {
        _ = try await session.run(Command(Statement(sql)), patience: patience)
    }

    func explained(_ error: any Error, _ verb: String) -> any Error {
        guard let failure = error as? PostgresFailure else { return StorageError.postgres(error) }
        switch failure.code {
        case "42501":
            return StorageError(
                .permissionDenied,
                """
                The user may not \(verb) the index \(index): only the owner of the table emporium_items may, \
                with the right to create in its schema. Connect once as the owner to \(verb) it.
                """, cause: failure)
        case "22P05", "22021":
            return StorageError(
                .invalidArgument, "The database's encoding can't represent the path \(index).", cause: failure)
        case "55P03":
            return StorageError(
                .locked,
                """
                The index \(index) could not be \(verb)d, because transactions on the table stayed open. Try \
                again when they have ended.
                """, cause: failure)
        default:
            return StorageError.postgres(failure)
        }
    }
}
#endif
