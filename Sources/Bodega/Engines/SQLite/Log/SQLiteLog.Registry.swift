import Foundation
import GRDB

extension SQLiteLog {
    /// The change logs of one file: which collections have one, and the origins of the changes in them.
    final class Registry: Sendable {

        /// What was found at one version of the schema. Every program that creates or removes a log changes the
        /// version.
        private struct Finding: Sendable {
            let log: SQLiteLog
            let schema: Int
            let exists: Bool
        }

        /// The last findings, by the names of the logs, for a limited number of logs.
        private let findings = Locked<[String: Finding]>([:])
        private static let limit = 2048

        /// The findings of connections in transactions, until these are committed.
        private let unsettled = Locked<[ObjectIdentifier: [String: Finding]]>([:])

        /// Whether there is a log, and it is complete.
        ///
        /// While the schema is unchanged, this reads only its version, so that a write to a collection without a log
        /// costs hardly more than one to a file without logs. After a change, one pass finds all logs that were asked
        /// for before, because those who follow many collections ask for each of them.
        func exists(_ log: SQLiteLog, in db: Database) throws -> Bool {
            let schema = try SQLiteLog.schemaVersion(in: db)
            var known = findings.withLock { $0 }
            if Self.mayWrite(db), let own = unsettled.withLock({ $0[ObjectIdentifier(db)] }) {
                known.merge(own) { $1 }
            }
            if let finding = known[log.plainName], finding.schema == schema { return finding.exists }
            guard try log.hasTable(in: db) else {
                keep([Finding(log: log, schema: schema, exists: false)], in: db)
                return false
            }
            known[log.plainName] = nil
            let logs = known.values.map(\.log) + [log]
            let complete = try SQLiteLog.complete(logs, in: db)
            keep(logs.map { Finding(log: $0, schema: schema, exists: complete.contains($0.plainName)) }, in: db)
            return complete.contains(log.plainName)
        }

        private func keep(_ found: [Finding], in db: Database) {
            guard Self.mayWrite(db) else { return keep(found) }
            // The transaction may have changed the schema. After a rollback, another one can reuse the version.
            let connection = ObjectIdentifier(db)
            let isFirst = unsettled.withLock { unsettled in
                let isFirst = unsettled[connection] == nil
                for finding in found { unsettled[connection, default: [:]][finding.log.plainName] = finding }
                return isFirst
            }
            // GRDB asks all observers of a transaction before each statement.
            guard isFirst else { return }
            db.afterNextTransaction { _ in
                let settled = self.unsettled.withLock { $0.removeValue(forKey: connection) }
                self.keep(settled.map { Array($0.values) } ?? [])
            } onRollback: { _ in
                self.unsettled.withLock { $0[connection] = nil }
            }
        }

        private static func mayWrite(_ db: Database) -> Bool { db.isInsideTransaction && !db.configuration.readonly }

        private func keep(_ found: [Finding]) {
            findings.withLock { findings in
                for finding in found { findings[finding.log.plainName] = finding }
                if findings.count > Self.limit { findings = [:] }
            }
        }

        /// Forgets all findings.
        func forget() {
            findings.withLock { $0 = [:] }
            unsettled.withLock { $0 = [:] }
        }

        /// Changes a collection inside of a transaction, and records the origin of the changes in the collection's log.
        ///
        /// - Parameters:
        ///   - origin: The origin.
        ///   - log: The collection's log.
        ///   - work: Changes the collection.
        /// - Returns: The place of the changes in the log; `nil` if there is no log.
        func attribute(
            to origin: StorageOrigin,
            in log: SQLiteLog,
            _ db: Database,
            _ work: () throws -> Void
        ) throws -> StorageCommit? {
            guard try exists(log, in: db), let before = try log.end(in: db) else {
                try work()
                return nil
            }
            try work()
            try log.setOrigin(origin, ofChangesAfter: before, in: db)
            guard let after = try log.end(in: db) else { return nil }
            return StorageCommit(before: before.cursor, after: after.cursor)
        }
    }
}
