import Foundation
import GRDB

/// The change logs of one file: in which form each of them is in the file, and the origins of the changes in them.
final class SQLiteLogs: Sendable {

    /// What was found at one version of the schema. Every program that creates or removes a log changes the version.
    private struct Finding: Sendable {
        let schema: Int
        /// `nil` if there is no log.
        let form: SQLiteChangeLog.Form?
    }

    /// The last findings, by the names of the logs, for a limited number of logs.
    private let findings = Locked<[String: Finding]>([:])
    private static let limit = 512

    /// The form of a log, `nil` if there is none.
    ///
    /// While the schema is unchanged, this reads only its version, so that a write to a collection without a log costs
    /// hardly more than one to a file without logs.
    func form(of log: SQLiteChangeLog, in db: Database) throws -> SQLiteChangeLog.Form? {
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        if let finding = findings.withLock({ $0[log.name] }), finding.schema == schema { return finding.form }
        let finding = Finding(schema: schema, form: try log.form(in: db))
        if db.isInsideTransaction, !db.configuration.readonly {
            // The transaction may have changed the schema. After a rollback, another one can reuse the version.
            db.afterNextTransaction { _ in self.keep(finding, of: log) }
        } else {
            keep(finding, of: log)
        }
        return finding.form
    }

    private func keep(_ finding: Finding, of log: SQLiteChangeLog) {
        findings.withLock { findings in
            if findings.count >= Self.limit { findings = [:] }
            findings[log.name] = finding
        }
    }

    /// Changes a collection inside of a transaction, and records the origin of the changes in the collection's log.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - log: The collection's log. If an earlier version created it, it gets the column for origins.
    ///   - work: Changes the collection.
    /// - Returns: The part of the log that the changes take up; `nil` if there is no log.
    func attribute(
        to origin: StorageOrigin,
        in log: SQLiteChangeLog,
        _ db: Database,
        _ work: () throws -> Void
    ) throws -> SQLiteLogSpan? {
        let form = try form(of: log, in: db)
        if form == .withoutOrigins { try log.addOrigins(in: db) }
        guard form != nil, let before = try log.end(in: db) else {
            try work()
            return nil
        }
        try work()
        try log.setOrigin(origin, ofChangesAfter: before, in: db)
        guard let after = try log.end(in: db) else { return nil }
        return SQLiteLogSpan(before: before, after: after, origin: origin)
    }
}
