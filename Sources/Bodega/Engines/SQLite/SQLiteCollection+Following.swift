package import Foundation
import GRDB

/// How far a follower knows a collection: up to a cursor in the log of its table, or up to its absence.
package struct SQLiteFollowedState: Sendable {
    /// `nil` if the collection does not exist.
    let end: (table: SQLiteTable, cursor: StorageCursor)?

    /// The place of a collection that does not exist.
    package static let nowhere = SQLiteFollowedState(end: nil)

    /// Whether the collection exists.
    package var isOfCollection: Bool { end != nil }

    /// Whether another place is in the same table. A collection that was removed and created again has another one.
    package func isInTable(of other: SQLiteFollowedState) -> Bool { end?.table.name == other.end?.table.name }
}

/// The changes of a collection from one place to another, and the items at the second one.
package struct SQLiteCollectionUpdate: Sendable {

    /// A change in the log.
    package struct Change: Sendable {
        package let key: CacheKey
        /// Whether it was committed through the same file, so that followers know it.
        package let isReported: Bool
    }

    /// The changes in their order, `nil` if the log does not reach back, or is another one.
    package let changes: [Change]?
    /// The existing items under the written keys. Without changes, all items in insertion order.
    package let items: [(key: CacheKey, data: Data)]
    /// The place that is reached.
    package let place: SQLiteFollowedState
}

// Following a collection creates its log, but never the collection.
extension SQLiteCollection {

    /// The place that the collection has now reached, and its items if they are few and small, so that reading them
    /// takes hardly longer.
    package func followedPlace() throws -> (place: SQLiteFollowedState, items: [(key: CacheKey, data: Data)]?) {
        while true {
            let found = try core.blockingReadMany { db -> (SQLiteFollowedState, [(key: CacheKey, data: Data)]?)? in
                guard let table = try currentTable(in: db) else { return (SQLiteFollowedState.nowhere, []) }
                let history = SQLiteHistory(of: table, in: core)
                guard let end = try history.end(in: db) else {
                    guard case .pool = try core.connections else { throw history.missing() }
                    return nil
                }
                let place = SQLiteFollowedState(end: (table, end.cursor))
                return (place, try table.isSmall(in: db) ? table.allItems(in: db) : nil)
            }
            if let found { return found }
            try core.blockingWriteUnreported { [self] db in try beginLog(in: db) }
        }
    }

    /// Whether the collection exists.
    package func exists() throws -> Bool { try core.blockingReadMany { try currentTable(in: $0) != nil } }

    /// Reads all items, and the keys of those changed since a place.
    ///
    /// - Returns: `nil` if the log does not reach back to the place.
    package func allItems(
        since place: SQLiteFollowedState
    ) throws -> (items: [(key: CacheKey, data: Data)], changed: Set<CacheKey>)? {
        try core.blockingReadMany { db in
            guard let (table, cursor) = place.end,
                let delta = try SQLiteHistory(of: table, in: core)
                    .changes(ChangesRequest(since: cursor, fields: []), in: db)
            else { return nil }
            return (try table.allItems(in: db), Set(delta.changes.map(\.key)))
        }
    }

    /// Reads the changes of all writers. If the collection has another table than before, all of its items are read.
    ///
    /// It blocks commits through the same file, and all earlier ones have been reported to followers. So a follower
    /// knows which changes are new to it, and in which order.
    ///
    /// - Parameters:
    ///   - place: The place after which to begin.
    ///   - receive: Receives the changes. It must return quickly.
    package func readUpdate(since place: SQLiteFollowedState, _ receive: (SQLiteCollectionUpdate) -> Void) throws {
        let (writer, commits) = try core.blockingWritable()
        try core.mapped {
            try writer.writeWithoutTransaction { db in
                var found: Found?
                try db.inTransaction(.deferred) {
                    found = try self.found(since: place, in: db)
                    return .commit
                }
                if found == nil {
                    try db.inTransaction(.immediate) {
                        try commits.place.check()
                        try beginLog(in: db)
                        found = try self.found(since: place, in: db)
                        return .commit
                    }
                }
                if let found { receive(update(found, since: place)) }
            }
        }
    }

    /// Observes the commits of other collections and engines through the same file, to the table of a place.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - observer: Receives the effects of each commit, in the order of the commits, on the thread that commits. It
    ///     must return quickly.
    /// - Returns: A closure that ends the observation; `nil` if the collection does not exist.
    package func observeCommits(
        at place: SQLiteFollowedState, _ observer: @escaping @Sendable ([SQLiteEffect]) -> Void
    ) -> (@Sendable () -> Void)? {
        guard let table = place.end?.table else { return nil }
        let number = core.observers.add(to: table, excluding: ObjectIdentifier(self), observer)
        return { [core] in core.observers.remove(from: table, number) }
    }

    /// Signals that the collection may have left a place, see ``SQLiteStorageEngine/changeSignals()``. If it does not
    /// exist, every commit to the file is signaled.
    package func changeSignals(at place: SQLiteFollowedState) -> AsyncStream<Void> {
        core.watch.signals(for: place.end?.table)
    }

    // MARK: Reading

    private struct Found {
        var changes: [StorageChange]?
        let items: [(key: CacheKey, data: Data)]
        let place: SQLiteFollowedState
    }

    /// - Returns: `nil` if the collection has no log.
    private func found(since place: SQLiteFollowedState, in db: Database) throws -> Found? {
        // A log is removed together with its table, and the name of neither is used again.
        if let (table, cursor) = place.end,
            let delta = try SQLiteHistory(of: table, in: core).changes(ChangesRequest(since: cursor), in: db)
        {
            let reached = SQLiteFollowedState(end: (table, delta.cursor))
            let items = delta.items.map { (key: $0.key, data: $0.data) }
            return Found(changes: delta.changes, items: items, place: reached)
        }
        guard let table = try currentTable(in: db) else {
            return Found(changes: nil, items: [], place: .nowhere)
        }
        guard let end = try SQLiteHistory(of: table, in: core).end(in: db) else { return nil }
        let new = SQLiteFollowedState(end: (table, end.cursor))
        return Found(changes: nil, items: try table.allItems(in: db), place: new)
    }

    private func update(_ found: Found, since place: SQLiteFollowedState) -> SQLiteCollectionUpdate {
        let reported = found.place.end.map { end in
            core.observers.takeReported(of: end.table, by: ObjectIdentifier(self))
        }
        let first = (place.end.flatMap { SQLiteLog.Row($0.cursor)?.number } ?? 0) + 1
        let changes = found.changes?.enumerated().map { offset, change in
            SQLiteCollectionUpdate.Change(
                key: change.key, isReported: reported?.contains(first + offset) ?? false)
        }
        return SQLiteCollectionUpdate(changes: changes, items: found.items, place: found.place)
    }

    /// Creates the log inside of a transaction, unless another writer has created it or removed the collection.
    private func beginLog(in db: Database) throws {
        guard let table = try currentTable(in: db) else { return }
        try SQLiteHistory(of: table, in: core).begin(in: db)
    }
}
