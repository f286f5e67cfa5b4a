public import Foundation
import GRDB

extension SQLiteStorageEngine {

    /// Rewrites the file without the space that removed items left.
    ///
    /// It needs about as much free space as the file is large, and other writers wait until it is done. Removing all items
    /// does it as well if little else is in the file.
    ///
    /// - Throws: A ``StorageError``; the file is then as it was.
    public func vacuum() async throws {
        try await core.onQueue { [core] in try core.vacuum() }
    }

    /// Examines the whole file: its structure, its indexes and its rows.
    ///
    /// - Returns: What is wrong, in SQLite's words; empty if nothing is.
    /// - Throws: A ``StorageError`` if the file could not be examined.
    public func integrityCheck() async throws -> [String] {
        try await core.readLoosely { db in
            do {
                return try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                // So damaged that the check itself cannot get through.
                return [error.message ?? "\(error)"]
            }
        }
    }

    /// Copies the file, with all collections, as it is at one moment, while others read and write it. Who writes to a file
    /// without WAL mode, which only a file of Bodega 2 that is read only can be, waits until it is copied.
    ///
    /// The copy is complete and sound or not there: it is made under another name first, and examined. No more users may
    /// read it than may read the file, and the file that it replaces.
    ///
    /// - Parameters:
    ///   - destination: Where the copy is to be.
    ///   - replacing: Whether it takes the place of a file that is there, which stays until the copy is complete.
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if something is there that is not to be
    ///   replaced.
    public func backup(to destination: URL, replacing: Bool = false) async throws {
        try FileSystem.checkFree(destination, replacing: replacing)
        for suffix in ["-wal", "-journal"] {
            // SQLite would take it for the log of the copy.
            try FileSystem.checkFree(URL(fileURLWithPath: destination.path + suffix), replacing: false)
        }
        let folder = destination.deletingLastPathComponent()
        let draft = folder.appendingPathComponent(".\(destination.lastPathComponent).\(UUID().uuidString)")
        try await core.onQueue { try FileSystem.createDirectory(at: folder) }
        defer { FileSystem.discard(draft) }
        // On a reading connection, so that those who write to the log don't wait for it.
        try await core.readLoosely { [file] db in
            // It is read again if what was read does not count.
            FileSystem.discard(draft)
            let originals = [
                try FileSystem.statusOfFile(file.path, followsLinks: true, file.path),
                try FileSystem.statusOfFile(destination.path, destination.path),
            ]
            try FileSystem.createEmptyFile(at: draft, as: originals.compactMap { $0 })
            do {
                try db.execute(sql: "VACUUM INTO ?", arguments: [draft.path])
            } catch let error as DatabaseError where error.isOfWriting {
                // It is the copy that there is no room for; the file itself is only read.
                throw StorageError.limitReached(error, file: destination) ?? .sqlite(error, file: destination)
            }
        }
        // Only now it is known that the copy counts.
        try await core.onQueue {
            try Self.check(draft)
            try FileSystem.publish(draft, as: destination, replacing: replacing)
        }
    }

    /// Makes sure that a copy is what it should be, before anybody relies on it.
    private static func check(_ draft: URL) throws {
        let copy = SQLiteReader(path: draft.path, lockTimeout: 0)
        defer { copy.closeQuietly() }
        let damage = try copy.read(isTransaction: false) { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
        if let damage = damage.first {
            throw StorageError(.damaged, "The copy is damaged, so it was not kept: \(damage)", file: draft)
        }
    }

    /// Ends the history of the collection's changes: its log is removed, and nobody pays for it any more.
    ///
    /// A log costs whoever writes: measured in SQLite alone, with 200,000 items in one batch, inserting and overwriting took
    /// about twice as long as without one, and removing all items almost five times. It also takes room for 100,000
    /// changes with their keys.
    ///
    /// The log comes back when somebody asks for the history again, and who follows the collection does that at once. Then
    /// it is another history: cursors of before are unknown to it, and lead to a snapshot. Does nothing if there is no
    /// history.
    ///
    /// - Throws: A ``StorageError``; the history is then as it was.
    public func endHistory() async throws {
        try await core.writeUnreported { [table] db in try table.log.remove(in: db) }
    }

    /// Closes the file when the operations under way are done: before it is moved or removed, say.
    ///
    /// This engine and its other collections throw ``StorageError/Code/cannotOpen`` from then on. An engine that is
    /// released closes its file too, but not at a moment that can be told.
    ///
    /// - Throws: A ``StorageError``; the file may then still be open.
    public func close() async throws {
        try await core.onQueue { [core] in try core.close() }
    }
}
