import Foundation
import GRDB

extension SQLiteLog {
    /// The starts of change logs that are not in the file yet.
    ///
    /// To create a log, SQLite syncs the file, which takes longer than to read a few items. So a reader of all items of
    /// a small file gets the cursor of a log that is created only when it has to contain something:
    ///
    /// 1. The items are read on the connection that writes. The reader gets the log's first row as it will
    ///    be, with a random nonce. That is noted here, with the connection's data version and a digest of the items.
    /// 2. The first change through the same ``SQLiteFile`` creates the log in its own transaction. If no other
    ///    connection has committed since step 1, the first row gets the nonce. So that row is in the log, before that
    ///    change.
    /// 3. Otherwise, or if another file's engine has created the log, the start joins it: that same transaction notes
    ///    the difference between the digest and the items before the change, and the end of the log there. A reader
    ///    that asks for the changes since the start gets the difference and the log's later changes, with their
    ///    origins. If nothing was changed through this file, or if the log was removed since, the reader gets the
    ///    difference to the items now.
    /// 4. A reader that asks while there is no log gets no changes if no other connection has committed since step 1.
    ///    Otherwise the log is created, and step 3 applies.
    ///
    /// A collection has at most one start, so changes of other programs lead to a log, not to another start.
    ///
    /// `starts` guards the starts. Steps 1, 2 and 4 run on one connection, one at a time.
    final class Starts: Sendable {

        /// The maximum size of a file, in bytes, for a start. Step 3 reads all items of the collection.
        static let largestFile = 256 << 10

        private struct Start: Sendable {
            let row: SQLiteLog.Row
            /// `nil` after the connection was closed.
            var version: SQLiteDataVersion?
            let digest: SQLiteDigest
            var isUsed = false
            var junction: Junction?
        }

        /// Where a start that is not in the log joins it.
        struct Junction: Sendable {
            /// The net effect of the changes before.
            let changes: [StorageChange]
            let row: SQLiteLog.Row
        }

        /// By the names of the collections' tables.
        private let starts = Locked<[String: Start]>([:])

        /// Whether the next change of a collection has to create its log.
        func mustCreateLog(of table: String) -> Bool {
            starts.withLock { $0[table].map { !$0.isUsed } ?? false }
        }

        /// Notes that the connection was closed, so that others may have committed since step 1.
        func noteClosing() {
            starts.withLock { starts in
                for table in starts.keys { starts[table]?.version = nil }
            }
        }

        /// Whether there are starts.
        var exist: Bool { starts.withLock { !$0.isEmpty } }

        /// The names of the tables whose start is current, see ``current(of:in:)``.
        func currentTables(in db: Database) throws -> Set<String> {
            let version = try SQLiteDataVersion(in: db)
            return starts.withLock { starts in
                Set(starts.filter { !$0.value.isUsed && $0.value.version == version }.keys)
            }
        }

        /// The start of a collection's log if no other connection has committed since.
        ///
        /// - Parameter db: The connection that writes, inside of a transaction.
        func current(of table: String, in db: Database) throws -> SQLiteLog.Row? {
            let version = try SQLiteDataVersion(in: db)
            return starts.withLock { starts in
                guard let start = starts[table], !start.isUsed, start.version == version else { return nil }
                return start.row
            }
        }

        /// Reads all items, and notes the start of the collection's log unless there is a current one. See step 1.
        ///
        /// - Parameters:
        ///   - table: The name of the collection's table, which has no log.
        ///   - db: The connection that writes, inside of a transaction.
        ///   - read: Reads all items.
        /// - Returns: The row, `nil` if there was a start that is not current any more.
        func begin(
            of table: String, in db: Database, reading read: () throws -> [(key: CacheKey, data: Data)]
        ) throws -> SQLiteLog.Row? {
            if let row = try current(of: table, in: db) {
                _ = try read()
                return row
            }
            if starts.withLock({ $0[table] != nil }) { return nil }
            let row = SQLiteLog.Row(number: 0, nonce: .random(in: .min ... .max))
            let version = try SQLiteDataVersion(in: db)
            let start = Start(row: row, version: version, digest: SQLiteDigest(of: try read()))
            starts.withLock { $0[table] = start }
            return row
        }

        /// Takes the start to create a log from. See step 2.
        ///
        /// - Returns: `nil` if there is none, if it was used, or if another connection has committed since.
        func use(of table: String, in db: Database) throws -> SQLiteLog.Row? {
            guard let row = try current(of: table, in: db) else { return nil }
            use(of: table, with: nil, in: db)
            return row
        }

        /// Lets a start that was not used join the log. See step 3.
        ///
        /// - Parameters:
        ///   - table: The name of the collection's table, which has a log.
        ///   - end: The end of the log.
        ///   - db: The connection that writes, inside of a transaction.
        ///   - read: Reads all items.
        func join(
            _ table: String, at end: SQLiteLog.Row, in db: Database,
            reading read: () throws -> [(key: CacheKey, data: Data)]
        ) throws {
            guard let start = starts.withLock({ $0[table] }), !start.isUsed else { return }
            use(of: table, with: Junction(changes: start.digest.changes(to: try read()), row: end), in: db)
        }

        private func use(of table: String, with junction: Junction?, in db: Database) {
            set(table, isUsed: true, junction)
            db.afterNextTransaction(onCommit: { _ in }, onRollback: { _ in self.set(table, isUsed: false, nil) })
        }

        private func set(_ table: String, isUsed: Bool, _ junction: Junction?) {
            starts.withLock { starts in
                starts[table]?.isUsed = isUsed
                starts[table]?.junction = junction
            }
        }

        /// Where a start has joined the log, `nil` if it has not, or if a row is not that of a start.
        func junction(of table: String, at row: SQLiteLog.Row) -> Junction? {
            starts.withLock { starts in
                guard let start = starts[table], start.row == row else { return nil }
                return start.junction
            }
        }

        /// The digest of the items at a row, `nil` if it is not that of a start.
        func digest(of table: String, at cursor: StorageCursor) -> SQLiteDigest? {
            guard let row = SQLiteLog.Row(cursor) else { return nil }
            return starts.withLock { starts in
                guard let start = starts[table], start.row == row else { return nil }
                return start.digest
            }
        }
    }
}

/// The version of a file's data as one connection sees it, which changes when another connection commits.
struct SQLiteDataVersion: Equatable, Sendable {
    /// Not the connection itself, which must not outlive its queue. It stays the same while the file is open.
    private let connection: ObjectIdentifier
    private let number: Int

    init(in db: Database) throws {
        connection = ObjectIdentifier(db)
        number = try SQLiteStatement.integer("PRAGMA data_version", in: db) ?? 0
    }
}
