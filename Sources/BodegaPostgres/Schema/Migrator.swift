#if Postgres
import Bodega
import Foundation

/// Brings the tables up to the version that this program knows.
///
/// Many programs may do so at once: one of them goes first, and the others wait for a row that it has locked, and then
/// find everything done.
struct Migrator: Sendable {

    let partitions: Int
    let patience: TimeInterval

    /// Creates or changes what is missing; without a single write, and so without the right to, if nothing is.
    func migrate(_ session: Session) async throws {
        if try await version(session) == Migration.latest { return }
        try await createTable(session)
        try await session.run(
            [
                Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED")),
                Command(Statement("SELECT version FROM emporium_migrations WHERE version = 0 FOR UPDATE")),
            ],
            patience: patience
        ).requireAll(2)
        let current = try await version(session) ?? 0
        for migration in Migration.all(partitions: partitions) where migration.version > current {
            let commands = migration.statements.map { Command(Statement($0)) }
            let note = "INSERT INTO emporium_migrations (version) VALUES (\(migration.version))"
            _ = try await session.run(commands + [Command(Statement(note))], patience: patience)
        }
        _ = try await session.run(Command(Statement("COMMIT")), patience: patience)
    }

    /// Makes sure that the tables are there, and of the version that this program knows. Nothing is changed.
    func check(_ session: Session) async throws {
        switch try await version(session) {
        case nil, 0: throw StorageError(.cannotOpen, "The database holds no items: it has no table for them.")
        case Migration.latest: return
        case let version?:
            let message = "The tables are of version \(version). Open them for writing once, to bring them up to date."
            throw StorageError(.cannotOpen, message)
        }
    }

    /// The version of the tables.
    ///
    /// - Returns: `nil` if there are none.
    private func version(_ session: Session) async throws -> Int32? {
        let statement = Statement("SELECT coalesce(max(version), 0) FROM emporium_migrations")
        let version: Int32
        do {
            version = try await session.run(Command(statement), patience: patience).number(0, 0)
        } catch let failure as PostgresFailure where failure.code == "42P01" {
            return nil
        }
        guard version <= Migration.latest else {
            let message = "The tables are of version \(version), and this program knows \(Migration.latest). Update it."
            throw StorageError(.cannotOpen, message)
        }
        return version
    }

    private func createTable(_ session: Session) async throws {
        let table = """
            CREATE TABLE IF NOT EXISTS emporium_migrations (
                version integer PRIMARY KEY,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """
        while true {
            do {
                _ = try await session.run(Command(Statement(table)), patience: patience)
                break
            } catch let failure as PostgresFailure where ["23505", "42P07", "42710", "XX000"].contains(failure.code) {
                // Two that create a table at the same moment find out only when both are about to end.
                try Task.checkCancellation()
                if try await version(session) != nil { break }
            }
        }
        let row = "INSERT INTO emporium_migrations (version) VALUES (0) ON CONFLICT DO NOTHING"
        _ = try await session.run(Command(Statement(row)), patience: patience)
    }
}

extension [QueryResult] {
    func requireAll(_ expected: Int) throws {
        if count != expected { throw PostgresFailure(.unexpectedAnswer, "A statement has no result.") }
    }
}
#endif
