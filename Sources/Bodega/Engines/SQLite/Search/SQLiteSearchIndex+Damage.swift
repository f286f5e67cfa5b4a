import GRDB
import Logging

/// A table of FTS5 that is damaged, or that this program's SQLite can't read. No read and no write fails because of it.
extension SQLiteSearchIndex {

    /// FTS5 has failed. The same can be found out without it.
    struct Failure: Error {
        let cause: DatabaseError

        /// Returns the error itself for a failure for another reason, such as a lock.
        static func of(_ error: any Error) -> any Error {
            guard let error = error as? DatabaseError,
                error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_ERROR
            else { return error }
            return Failure(cause: error)
        }

        /// Whether the table is damaged, instead of FTS5 missing or refusing a query.
        var isDamage: Bool {
            let message = cause.message ?? ""
            return !message.hasPrefix("no such module") && !message.hasPrefix("fts5: ")
        }
    }

    /// Runs a closure with statements on the table of FTS5.
    ///
    /// - Throws: A ``Failure`` if FTS5 fails.
    static func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw Failure.of(error) }
    }

    /// Makes the index one that is not used, inside of a transaction, and its triggers ones that note nothing.
    func markDamaged(in db: Database) throws {
        try db.execute(sql: "UPDATE main.\(Self.register) SET built = NULL WHERE id = \(id)")
    }

    /// Empties the index before all items are removed, so that no trigger notes them.
    func removeAll(in db: Database) throws {
        do {
            try Self.reporting { try run("INSERT INTO main.\(name) (\(name)) VALUES ('delete-all')", in: db) }
        } catch let failure as Failure {
            SQLiteSearchFailures.shared.report(failure, of: self, in: db)
            if failure.isDamage { try markDamaged(in: db) }
            // Otherwise the triggers note the items.
            return
        }
        try run("DELETE FROM main.\(notes)", in: db)
        try run("UPDATE main.\(Self.register) SET built = \(Int.min) WHERE id = \(id)", in: db)
    }

    /// Removes the table of FTS5, inside of a transaction.
    func removeTable(in db: Database) throws {
        do {
            try Self.reporting { try db.executeDirectly("DROP TABLE IF EXISTS main.\(name)") }
        } catch is Failure {
            // FTS5 can't open the table, which consists of ordinary ones.
            try db.changeSchema("DELETE FROM main.sqlite_master WHERE type = 'table' AND name = '\(name)'") {
                for part in ["data", "idx", "content", "docsize", "config"] {
                    try db.executeDirectly("DROP TABLE IF EXISTS main.\(name)_\(part)")
                }
            }
            db.clearSchemaCache()
        }
    }
}

/// The indexes for searches that have failed in this process.
final class SQLiteSearchFailures: Sendable {
    static let shared = SQLiteSearchFailures()

    private struct Place: Hashable {
        let file: String
        let id: Int
    }

    /// Those that are damaged, and whether that still has to be written to the register.
    private let found = Locked<[Place: Bool]>([:])
    private let logger: Logger

    init(logger: Logger = bodegaLogger) { self.logger = logger }

    /// Logs a failure of an index, once.
    func report(_ failure: SQLiteSearchIndex.Failure, of index: SQLiteSearchIndex, in db: Database) {
        let place = Place(file: db.file, id: index.id)
        guard found.withLock({ $0.updateValue(failure.isDamage, forKey: place) }) == nil else { return }
        logger.warning(
            """
            An index for searches can't be used; searches read all items. \
            \(failure.isDamage ? "Remove it, and create it again." : "")
            """,
            metadata: ["index": "\(index.index)", "file": "\(db.file)", "error": "\(failure.cause)"])
    }

    /// Whether an index of a file was found to be damaged, which the register does not say yet.
    func isAnyUnmarked(in db: Database) -> Bool {
        found.withLock { $0.contains { $0.key.file == db.file && $0.value } }
    }

    /// Makes damaged indexes ones that are not used, inside of a transaction.
    func mark(_ indexes: [SQLiteSearchIndex], in db: Database) throws {
        for index in indexes {
            let place = Place(file: db.file, id: index.id)
            guard found.withLock({ $0[place] }) == true else { continue }
            try index.markDamaged(in: db)
            db.afterNextTransaction { [found] _ in found.withLock { $0[place] = false } }
        }
    }

    /// Forgets what is known about an index, whose number a new one has.
    func forget(_ index: SQLiteSearchIndex, in db: Database) {
        found.withLock { $0[Place(file: db.file, id: index.id)] = nil }
    }
}
