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

    /// A random number, which stands for the indexes of a table.
    static let lockNumber = 1_935_026_814

    func create() async throws {
        try index.check()
        do {
            try await work.withLock { session, catalog in
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
            throw work.explained(error, "create")
        }
    }

    /// Removes the index in all versions.
    func remove() async throws {
        do {
            try await work.withLock { session, catalog in
                let own = catalog.indexes.filter { index.isName($0.name) }
                for index in own where index.isWhole {
                    try await work.runBriefly(["DROP INDEX IF EXISTS \(name(index.name, catalog))"], session)
                }
                // What was built for an index that was not completed.
                for index in own where !index.isWhole && !index.isAttached {
                    try await work.run("DROP INDEX CONCURRENTLY IF EXISTS \(name(index.name, catalog))", session)
                }
            }
        } catch {
            throw work.explained(error, "remove")
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
        try await work.runBriefly(statements, session)
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
            try await work.run("DROP INDEX CONCURRENTLY IF EXISTS \(name(part, catalog))", session, time)
        }
        if found?.isValid != true {
            let table = name(partition.name, catalog)
            let sql = "CREATE INDEX CONCURRENTLY \(SQLText.identifier(part)) ON \(table) \(columns(catalog))"
            if let progress {
                try await progress.during(table, from: shares.start, to: shares.end) {
                    try await work.run(sql, session, time)
                }
            } else {
                try await work.run(sql, session, time)
            }
        }
        try await work.runBriefly(
            ["ALTER INDEX \(name(index.name, catalog)) ATTACH PARTITION \(name(part, catalog))"], session)
    }

    /// The function must be that of the table's schema, also if the search path finds another one first. The collection
    /// is a condition, with which the index is smaller and faster than with a third column.
    private func columns(_ catalog: TableCatalog) -> String {
        let expressions = SortKeyFunction.expressions(
            of: index.index, schema: SQLText.identifier(catalog.schema) + ".")
        let columns = expressions.map { "(\($0))" } + ["position"]
        let condition = SortKeyFunction.condition(
            of: index.index, schema: SQLText.identifier(catalog.schema) + ".")
        return "(\(columns.joined(separator: ", "))) WHERE collection = \(index.collection)"
            + (condition.map { " AND \($0)" } ?? "")
    }

    private func name(_ name: String, _ catalog: TableCatalog) -> String {
        "\(SQLText.identifier(catalog.schema)).\(SQLText.identifier(name))"
    }

    private var work: IndexWork { IndexWork(index: index.index, pool: pool, retries: retries, timeout: timeout) }
}
#endif
