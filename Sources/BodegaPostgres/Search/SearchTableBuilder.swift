#if Postgres
import Bodega
import Foundation

/// Creates and removes an index for searches beside readers and writers.
///
/// 1. A session of its own takes the lock of ``IndexWork``, so that of several programs one works.
/// 2. One transaction creates the tables and the triggers, for which it waits until all writers before it have ended.
///    From then on, all changes are noted.
/// 3. Transactions of some items each add their entries, in the order of their positions, and store how far they are.
/// 4. One transaction creates the index for the words. The server builds it while readers and writers go on: writers
///    only add notes. With it, the search index is complete, and is used.
///
/// A program can stop anywhere. The next one goes on. Until then, or until the index is removed, changes are noted.
struct SearchTableBuilder: Sendable {

    let table: SearchTable
    let pool: SessionPool
    let retries: Retries
    /// How long an operation may wait, in seconds.
    let timeout: TimeInterval
    /// Receives the number of items that were read so far.
    var progress: (@Sendable (Int) -> Void)?

    private var work: IndexWork { IndexWork(index: table.index, pool: pool, retries: retries, timeout: timeout) }

    func create() async throws {
        try table.check()
        do {
            try await work.withLock { session, catalog in
                try await checkEncoding(session)
                let found = try await find(session)
                if found?.isValid == true, found?.isComplete == true { return }
                if found?.isValid != true {
                    try await work.runBriefly(removal(schema(session)), session)
                    try await work.runBriefly(creation(session, catalog), session)
                }
                try await addAll(session)
                try await complete(session, catalog)
            }
        } catch {
            throw work.explained(error, "create")
        }
    }

    func remove() async throws {
        do {
            try await work.withLock { session, _ in
                try await work.runBriefly(removal(schema(session)), session)
            }
        } catch {
            throw work.explained(error, "remove")
        }
    }

    // MARK: Steps

    /// The words are compared byte by byte with those of Swift.
    private func checkEncoding(_ session: Session) async throws {
        let encoding = try await session.run(Command(Statement("SELECT getdatabaseencoding()::text"))).text(0, 0)
        guard encoding == "UTF8" else {
            throw StorageError(
                .invalidArgument,
                "The database has the encoding \(encoding): an index for searches needs UTF8. Searches read all items.")
        }
    }

    private func find(_ session: Session) async throws -> SearchTable.Found? {
        let rows = try await session.run(SearchTable.find(ofCollection: table.collection))
        return try SearchTable.found(rows, ofCollection: table.collection).first { $0.index == table.index }
    }

    /// The schema of the table of items, as the server quotes it.
    private func schema(_ session: Session) async throws -> String {
        try await session.run(Command(Self.schema)).text(0, 0)
    }

    private static let schema = Statement(
        """
        SELECT quote_ident(n.nspname) FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
        WHERE t.oid = 'emporium_items'::regclass
        """)

    private func creation(_ session: Session, _ catalog: TableCatalog) async throws -> [String] {
        let schema = try await schema(session)
        let grants = try await session.run(Command(ReferenceTable.grants))
        let rights = try (0..<grants.count).map { row in
            let rights = try grants.flag(row, 1) ? "INSERT, UPDATE, DELETE" : "SELECT"
            return "GRANT \(rights) ON \(tables(schema)) TO \(try grants.text(row, 0))"
        }
        return [
            """
            CREATE TABLE \(schema).\(table.name) (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                shard smallint NOT NULL,
                key bytea NOT NULL,
                position bigint NOT NULL,
                length integer NOT NULL,
                words text COLLATE "C" NOT NULL,
                UNIQUE (shard, key)
            )
            """,
            """
            CREATE TABLE \(schema).\(table.notes) (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                shard smallint NOT NULL,
                key bytea NOT NULL,
                kept boolean NOT NULL DEFAULT false
            )
            """,
            "CREATE INDEX ON \(schema).\(table.notes) (shard, key) WHERE kept",
            "CREATE TABLE \(schema).\(table.state) (built bigint, count bigint NOT NULL, length bigint NOT NULL)",
            "INSERT INTO \(schema).\(table.state) VALUES (NULL, 0, 0)",
            "COMMENT ON TABLE \(schema).\(table.name) IS \(SQLText.literal(table.comment))",
        ] + rights
            + SearchTrigger.definition(of: table, inSchema: schema, partitions: catalog.partitions.map(\.name))
    }

    /// The statements that remove the triggers and the tables, as far as they exist.
    private func removal(_ schema: String) -> [String] {
        [
            "DROP FUNCTION IF EXISTS \(schema).\(table.function)() CASCADE",
            "DROP TABLE IF EXISTS \(tables(schema))",
        ]
    }

    private func tables(_ schema: String) -> String {
        [table.name, table.notes, table.state].map { "\(schema).\($0)" }.joined(separator: ", ")
    }

    private func addAll(_ session: Session) async throws {
        let writer = SearchTableWriter(table)
        var count = 0
        while true {
            let step = try await writer.addItems(session)
            if step == 0 { return }
            count += step
            progress?(count)
        }
    }

    private func complete(_ session: Session, _ catalog: TableCatalog) async throws {
        let schema = try await schema(session)
        let index = """
            CREATE INDEX \(table.words) ON \(schema).\(table.name) USING gin ((words::tsvector))
            WITH (gin_pending_list_limit = \(Self.pendingListLimit))
            """
        _ = try await session.run(Command(Statement(index)), patience: timeout + catalog.timeToBuild)
    }

    /// The size of the list of words that were added without being sorted in, in kB. Each search reads it.
    private static let pendingListLimit = 256
}
#endif
