public import Foundation
import GRDB

extension SQLiteStorageEngine {

    /// Rewrites the file without the unused space of removed items.
    ///
    /// This needs about as much free space as the size of the file, and other writers wait until it is done. Removing
    /// all items does the same if little else is in the file.
    ///
    /// - Throws: A ``StorageError``; the file is then unchanged.
    public func vacuum() async throws {
        try await LockHolders.shared.repeating { try await core.onWorker { [core] in try core.vacuum() } }
    }

    /// Examines the whole file: its structure, its indexes and its rows.
    ///
    /// - Returns: The messages of SQLite; empty if the file is sound.
    /// - Throws: A ``StorageError`` if the file could not be examined.
    package func integrityCheck() async throws -> [String] {
        try await core.readLoosely { db in
            do {
                return try problems(in: db)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                // The damage prevents the check itself.
                return [error.message ?? "\(error)"]
            }
        }
    }

    /// Copies a snapshot of the file, with all collections, while other programs read and write it. If the file is not
    /// in WAL mode, writers wait until it is copied; that can only be a file of Bodega 2 that this engine reads.
    ///
    /// A copy that exists is complete and sound: it is created under another name first, and checked. It is readable
    /// only for users who may read the file, and the file that it replaces. If the process ends during the backup, the
    /// incomplete copy remains under a hidden name, until the next backup into the folder, or until the command
    /// `bodega compact` is run on a store in it.
    ///
    /// - Parameters:
    ///   - destination: The location of the copy.
    ///   - replacing: Whether the copy may replace an existing file, which remains until the copy is complete.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if a file may not be replaced; a
    ///   `CancellationError` if the task is cancelled before the copy is complete. The incomplete copy is removed.
    public func backup(to destination: URL, replacing: Bool = false) async throws {
        let destination = destination.fixed
        try StorageError.checkLength(ofPath: destination)
        try FileSystem.checkFree(destination, replacing: replacing)
        for suffix in ["-wal", "-journal"] {
            // SQLite would take it for the WAL or journal of the copy.
            try FileSystem.checkFree(URL(fileURLWithPath: destination.path + suffix), replacing: false)
        }
        try await LockHolders.shared.repeating { try await backUpOnce(to: destination, replacing: replacing) }
    }

    private func backUpOnce(to destination: URL, replacing: Bool) async throws {
        let folder = destination.deletingLastPathComponent()
        let draft = try await core.onWorker {
            try FileSystem.createDirectory(at: folder)
            let draft = try SQLiteBackupDraft(in: folder)
            try StorageError.checkLength(ofPath: draft.url)
            return draft
        }
        // Not when the last reference is released, which may be later.
        defer { draft.end() }
        try await core.untilCancelled { cancellation in
            // On a reading connection, so that writers don't wait in WAL mode.
            try await core.readLooselyOnce { [file] db in
                // The closure runs again if the result of a read does not count.
                FileSystem.discard(draft.url)
                let originals = [
                    try FileSystem.statusOfFile(file.path, followsLinks: true, file.path),
                    try FileSystem.statusOfFile(destination.path, destination.path),
                ]
                try FileSystem.createEmptyFile(at: draft.url, as: originals.compactMap { $0 })
                do {
                    try cancellation.watch(db) {
                        try db.execute(sql: "VACUUM INTO ?", arguments: [draft.url.path])
                    }
                } catch let error as DatabaseError where error.isOfWriting {
                    // The copy has no space; the file itself is only read.
                    throw StorageError.limitReached(error, file: destination) ?? .sqlite(error, file: destination)
                }
            }
            // Only now, because the last run of the closure counts.
            try await core.onWorker {
                try Self.check(draft.url, cancellation)
                try FileSystem.publish(draft.url, as: destination, replacing: replacing)
            }
        }
    }

    /// Removes the incomplete copies that interrupted backups have left in the folder of the file.
    ///
    /// - Returns: The number of files that were removed.
    /// - Throws: A ``StorageError`` if the folder can't be read.
    @discardableResult
    package func removeLeftovers() async throws -> Int {
        try await core.onWorker { [folder = file.deletingLastPathComponent()] in
            try SQLiteBackupDraft.removeStale(in: folder)
        }
    }

    /// Checks a copy before it is published.
    private static func check(_ draft: URL, _ cancellation: SQLiteCancellation) throws {
        let copy = SQLiteReader(path: draft.path, lockTimeout: 0)
        defer { copy.closeQuietly() }
        let damage = try copy.read(isTransaction: false) { db in
            try cancellation.watch(db) {
                try problems(in: db)
            }
        }
        if let damage = damage.first {
            throw StorageError(.damaged, "The copy is damaged, so it was discarded: \(damage)", file: draft)
        }
    }

    /// Removes the log of the collection's changes, so that it no longer slows down writers.
    ///
    /// A log has a cost for all writers: measured in SQLite alone, with 200,000 items in one batch, inserting and
    /// overwriting took about twice as long as without one, and removing all items almost five times. It also takes up
    /// space for 100,000 changes with their keys.
    ///
    /// The next request for changes creates a new log, and followers of the collection request them immediately. The
    /// new log does not know earlier cursors, so these lead to a snapshot. Does nothing if there is no log.
    ///
    /// - Throws: A ``StorageError``; the log is then unchanged.
    public func removeChangeLog() async throws {
        try await core.writeUnreported { [table] db in try table.log.remove(in: db) }
    }

    /// Closes the file when the operations in progress are done, for example before it is moved or removed.
    ///
    /// This engine and its other collections throw ``StorageError/Code/closed`` from then on. An engine that is
    /// released closes its file too, but not at a predictable moment.
    ///
    /// - Throws: A ``StorageError``; the file may then still be open.
    public func close() async throws {
        try await core.onWorker { [core] in try core.close() }
    }
}

/// What SQLite finds wrong with a file.
///
/// Not with a statement of GRDB, which notes the tables that a statement reads in a time that is quadratic in their
/// number.
private func problems(in db: Database) throws -> [String] {
    let statement = try SQLiteStatement("PRAGMA integrity_check", in: db)
    defer { statement.reset() }
    var problems: [String] = []
    while try statement.step() { problems.append(statement.text(at: 0)) }
    return problems.filter { $0 != "ok" }
}
