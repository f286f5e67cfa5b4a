#if Postgres
@testable import BodegaPostgres

/// A transaction that logs a change like an engine, and stays open until the test commits it.
struct HeldTransaction {
    private let pool: SessionPool
    private let session: Session

    init(_ schema: Schemas.Schema) async throws {
        try await self.init(connecting: schema.url)
    }

    init(connecting url: String) async throws {
        pool = SessionPool(target: try ConnectionTarget(url), limit: 1, connectTimeout: 60)
        session = try await pool.makeSession(until: .after(60))
    }

    func write(_ name: String, collection: Int32) async throws {
        let statements = [
            "BEGIN",
            """
            INSERT INTO emporium_changes (collection, origin, request, part, written, removed, removes_all)
            VALUES (
                \(collection), gen_random_uuid(), gen_random_uuid(), 0, ARRAY['\\x00'::bytea || '\(name)'::bytea], \
                '{}', false
            )
            """,
        ]
        _ = try await session.run(statements.map { Command(Statement($0)) }, patience: 60)
    }

    /// Begins the transaction with a statement.
    func run(_ sql: String) async throws {
        _ = try await session.run([Command(Statement("BEGIN")), Command(Statement(sql))], patience: 60)
    }

    func commit() async throws {
        _ = try await session.run(Command(Statement("COMMIT")), patience: 60)
    }
}
#endif
