#if Postgres
import Bodega
import Foundation

/// Migrates the tables to the latest version that this program supports.
///
/// Programs may migrate concurrently: the first locks a row, the others wait for the lock and find the tables migrated.
struct Migrator: Sendable {

    let partitions: Int

    /// Applies the missing migrations. If there are none, it writes nothing and needs no right to write.
    func migrate(_ session: Session) async throws {
        if try await version(session) == Migration.latest { return }
        try await createTable(session)
        let lock = Statement("SELECT version FROM emporium_migrations WHERE version = 0 FOR UPDATE")
        try await session.run([.begin, Command(lock)])
        let current = try await version(session) ?? 0
        for migration in Migration.all(partitions: partitions) where migration.version > current {
            let commands = migration.statements.map { Command(Statement($0)) }
            let note = "INSERT INTO emporium_migrations (version) VALUES (\(migration.version))"
            _ = try await session.run(commands + [Command(Statement(note))])
        }
        _ = try await session.run(.commit)
    }

    /// Checks that the tables exist in the latest version, and changes nothing.
    func check(_ session: Session) async throws {
        switch try await version(session) {
        case nil, 0:
            throw StorageError(
                .cannotOpen, "The database holds no items: its tables are missing. Write an item to create them.")
        case Migration.latest: return
        case let version?:
            let message = "The tables have version \(version). Open the database once for writing to migrate them."
            throw StorageError(.cannotOpen, message)
        }
    }

    /// Returns the version of the tables; `nil` if there are none.
    private func version(_ session: Session) async throws -> Int32? {
        let statement = Statement("SELECT coalesce(max(version), 0) FROM emporium_migrations")
        let version: Int32
        do {
            version = try await session.run(Command(statement)).number(0, 0)
        } catch let failure as PostgresFailure where failure.code == "42P01" {
            return nil
        }
        guard version <= Migration.latest else {
            let message =
                "The tables have version \(version), this program supports \(Migration.latest). Update the program."
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
                _ = try await session.run(Command(Statement(table)))
                break
            } catch let failure as PostgresFailure where ["23505", "42P07", "42710", "XX000"].contains(failure.code) {
                // Another transaction created the table concurrently.
                try Task.checkCancellation()
                if try await version(session) != nil { break }
            }
        }
        let row = "INSERT INTO emporium_migrations (version) VALUES (0) ON CONFLICT DO NOTHING"
        _ = try await session.run(Command(Statement(row)))
    }
}
#endif
