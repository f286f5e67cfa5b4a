#if Postgres
import Bodega
import Foundation

/// Creates and removes an index beside readers and writers.
///
/// 1. A session of its own takes an advisory lock, so that of several programs one works. The others try again and
///    again: a statement that waited for the lock would hold a snapshot, which a concurrent build waits for.
/// 2. One transaction creates the function, unless it exists, and the index of the whole table, still without parts,
///    which is therefore invalid.
/// 3. For each partition, the server builds an index concurrently. Readers and writers go on.
/// 4. The index of each partition is attached. With the last one, the server makes the whole index valid.
///
/// A program can stop anywhere. The next one finds in the catalogs what is done. A build that was stopped leaves an
/// invalid index, which is dropped and built again. The server releases the lock when the session ends.
///
/// Steps 2 and 4 need locks for which they wait only briefly, because later readers and writers would wait behind them.
/// They are repeated after a pause.
struct IndexBuilder: Sendable {

    let index: ItemIndex
    let pool: SessionPool
    let retries: Retries
    /// How long an operation may wait, in seconds.
    let timeout: TimeInterval
    /// Receives how far the creation is, `nil` if it reports nothing.
    var progress: IndexBuildProgress?

    private static let lock = "SELECT pg_try_advisory_lock(\(lockNumber), $1)"
    /// A random number, which stands for the indexes of a table.
    static let lockNumber = 1_935_026_814

    /// How long a statement waits for a lock on a table, in milliseconds.
    private static let briefly = 300

    func create() async throws {
        try index.check()
        do {
            try await withLock { session, catalog in
                try await createWhole(catalog, session)
                let sizes = catalog.partitions.map { Double($0.size) + 1 }
                let whole = sizes.reduce(0, +)
                for (number, partition) in catalog.partitions.enumerated() {
                    let start = sizes[..<number].reduce(0, +) / whole
                    try await createPart(
                        on: partition, catalog, session, shares: (start, start + sizes[number] / whole))
                }
            }
            progress?.reportShare(1)
        } catch {
            throw explained(error, "create")
        }
    }

    /// Removes the index in all versions.
    func remove() async throws {
        do {
            try await withLock { session, catalog in
                let own = catalog.indexes.filter { index.isName($0.name) }
                for index in own where index.isWhole {
                    try await runBriefly(["DROP INDEX IF EXISTS \(name(index.name, catalog))"], session)
                }
                // What was built for an index that was not completed.
                for index in own where !index.isWhole && !index.isAttached {
                    try await run("DROP INDEX CONCURRENTLY IF EXISTS \(name(index.name, catalog))", session)
                }
            }
        } catch {
            throw explained(error, "remove")
        }
    }

    // MARK: Steps

    private func createWhole(_ catalog: TableCatalog, _ session: Session) async throws {
        var statements = catalog.hasFunction ? [] : SortKeyFunction.definition(inSchema: catalog.schema)
        let whole = name(index.name, catalog)
        if !catalog.indexes.contains(where: { $0.isWhole && $0.name == index.name }) {
            let table = name("emporium_items", catalog)
            statements.append("CREATE INDEX \(SQLText.identifier(index.name)) ON ONLY \(table) \(columns(catalog))")
        }
        statements.append("COMMENT ON INDEX \(whole) IS \(SQLText.literal(index.comment))")
        try await runBriefly(statements, session)
    }

    private func createPart(
        on partition: TableCatalog.Partition, _ catalog: TableCatalog, _ session: Session,
        shares: (start: Double, end: Double)
    ) async throws {
        let part = index.name(onPartition: partition.name)
        let found = catalog.indexes.first { !$0.isWhole && $0.name == part }
        if found?.isAttached == true { return }
        let time = timeout + TableCatalog.timeToBuild(partition)
        if found?.isValid == false {
            try await run("DROP INDEX CONCURRENTLY IF EXISTS \(name(part, catalog))", session, time)
        }
        if found?.isValid != true {
            let table = name(partition.name, catalog)
            let sql = "CREATE INDEX CONCURRENTLY \(SQLText.identifier(part)) ON \(table) \(columns(catalog))"
            if let progress {
                try await progress.during(table, from: shares.start, to: shares.end) {
                    try await run(sql, session, time)
                }
            } else {
                try await run(sql, session, time)
            }
        }
        try await runBriefly(
            ["ALTER INDEX \(name(index.name, catalog)) ATTACH PARTITION \(name(part, catalog))"], session)
    }

    /// The function must be that of the table's schema, also if the search path finds another one first. The collection
    /// is a condition, with which the index is smaller and faster than with a third column.
    private func columns(_ catalog: TableCatalog) -> String {
        let expressions = SortKeyFunction.expressions(
            of: index.index, schema: SQLText.identifier(catalog.schema) + ".")
        let columns = expressions.map { "(\($0))" } + ["position"]
        return "(\(columns.joined(separator: ", "))) WHERE collection = \(index.collection)"
    }

    private func name(_ name: String, _ catalog: TableCatalog) -> String {
        "\(SQLText.identifier(catalog.schema)).\(SQLText.identifier(name))"
    }

    // MARK: Running

    /// Runs the steps on a session that holds the lock, again after an outage or a conflict.
    private func withLock(_ body: (Session, TableCatalog) async throws -> Void) async throws {
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
    private func runBriefly(_ statements: [String], _ session: Session) async throws {
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

    private func run(_ sql: String, _ session: Session, _ patience: TimeInterval? = nil) async throws {
        _ = try await session.run(Command(Statement(sql)), patience: patience)
    }

    private func explained(_ error: any Error, _ verb: String) -> any Error {
        guard let failure = error as? PostgresFailure else { return StorageError.postgres(error) }
        switch failure.code {
        case "42501":
            return StorageError(
                .permissionDenied,
                """
                The user may not \(verb) the index \(index.index): only the owner of the table emporium_items may, \
                with the right to create in its schema. Connect once as the owner to \(verb) it.
                """, cause: failure)
        case "22P05", "22021":
            return StorageError(
                .invalidArgument, "The database's encoding can't represent the path \(index.index).", cause: failure)
        case "55P03":
            return StorageError(
                .locked,
                """
                The index \(index.index) could not be \(verb)d, because transactions on the table stayed open. Try \
                again when they have ended.
                """, cause: failure)
        default:
            return StorageError.postgres(failure)
        }
    }
}
#endif
