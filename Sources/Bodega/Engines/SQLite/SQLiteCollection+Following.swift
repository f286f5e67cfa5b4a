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

    /// The number of the row in the log.
    fileprivate var number: Int { end.flatMap { SQLiteLog.Row($0.cursor)?.number } ?? 0 }
}

/// The changes of a collection from one place to another, and the items at the second one.
package struct SQLiteCollectionUpdate: Sendable {
    private let start: SQLiteFollowedState
    private let changes: [StorageChange]?
    /// The existing items under the changed keys. Without changes, all items in insertion order.
    package let items: [(key: CacheKey, data: Data)]
    /// The place that is reached.
    package let place: SQLiteFollowedState

    fileprivate init(
        _ changes: [StorageChange]?, _ items: [(key: CacheKey, data: Data)], from start: SQLiteFollowedState,
        to place: SQLiteFollowedState
    ) {
        (self.start, self.changes, self.items, self.place) = (start, changes, items, place)
    }

    /// The changes after a place that is not before the first one, in their order; `nil` if the log does not reach
    /// back, or is another one.
    package func changes(after place: SQLiteFollowedState?) -> ArraySlice<StorageChange>? {
        changes?.dropFirst(max(0, (place?.number ?? 0) - start.number))
    }
}

/// A change that a collection has made itself.
package struct SQLiteOwnChange: Sendable {
    /// The changes up to this one, `nil` if there is no follower. They contain those that were made through the
    /// collection itself in the same transaction.
    package internal(set) var earlier: SQLiteCollectionUpdate?
    /// The operations of the change.
    package internal(set) var operations: [StorageOperation] = []
    /// The items that were removed with the collection.
    package internal(set) var removed: [(key: CacheKey, data: Data)] = []
    /// The place after the change.
    package internal(set) var place = SQLiteFollowedState.nowhere
}

// Following a collection creates its log, but never the collection.
extension SQLiteCollection {

    /// Whether the collection exists.
    package func exists() throws -> Bool { try core.blockingReadMany { try currentTable(in: $0) != nil } }

    /// Reads the changes of all writers. If the collection has another table than before, all of its items are read.
    ///
    /// It blocks commits through the same file. A change through the collection itself has either been passed to its
    /// caller as committed, or comes later. So a follower knows which changes are new to it, and in which order.
    ///
    /// - Parameters:
    ///   - place: Returns the place after which to begin, `nil` to read nothing.
    ///   - receive: Receives the changes. It must return quickly.
    package func readUpdate(
        since place: () -> SQLiteFollowedState?, _ receive: (SQLiteCollectionUpdate) -> Void
    ) throws {
        let (writer, commits) = try core.blockingWritable()
        try core.mapped {
            try core.use(writer) { db in
                guard let place = place() else { return }
                var update = try db.transaction(.deferred) { try changes(since: place, creatingLog: false, in: db) }
                if update == nil {
                    update = try db.transaction(.immediate) {
                        try commits.place.check()
                        return try changes(since: place, creatingLog: true, in: db)
                    }
                }
                if let update { receive(update) }
            }
        }
    }

    /// Signals that others may have changed the collection, see ``SQLiteStorageEngine/changeSignals()``. If it does not
    /// exist, every commit to the file is signaled.
    package func changeSignals(at place: SQLiteFollowedState) -> AsyncStream<Void> {
        core.watch.signals(for: place.end?.table, excluding: origin)
    }

    /// Reads the changes since a place inside of a transaction.
    ///
    /// - Returns: `nil` if the collection has no log, and none is to be created.
    func changes(
        since place: SQLiteFollowedState, creatingLog: Bool, in db: Database
    ) throws -> SQLiteCollectionUpdate? {
        // A log is removed together with its table, and the name of neither is used again.
        if let (table, cursor) = place.end, let row = SQLiteLog.Row(cursor) {
            let history = SQLiteHistory(of: table, in: core)
            if let end = try history.end(in: db) {
                if end == row { return SQLiteCollectionUpdate([], [], from: place, to: place) }
                // Items that this collection has written are not new to the follower.
                let request = ChangesRequest(since: cursor, excluding: origin)
                if try table.log.has(row, in: db), let delta = try history.changes(request, in: db) {
                    return SQLiteCollectionUpdate(
                        delta.changes, delta.items.map { ($0.key, $0.data) }, from: place,
                        to: SQLiteFollowedState(end: (table, delta.cursor)))
                }
            }
        }
        guard let table = try currentTable(in: db) else {
            return SQLiteCollectionUpdate(nil, [], from: place, to: .nowhere)
        }
        let history = SQLiteHistory(of: table, in: core)
        if creatingLog { try history.begin(in: db) }
        guard let end = try history.end(in: db) else { return nil }
        return SQLiteCollectionUpdate(
            nil, try table.allItems(in: db), from: place, to: SQLiteFollowedState(end: (table, end.cursor)))
    }
}
