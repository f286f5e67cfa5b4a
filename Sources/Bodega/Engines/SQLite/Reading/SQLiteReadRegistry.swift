import Foundation
import GRDB

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Prevents a process from writing to a file through an index that it has opened for reading only.
///
/// Connections of one process share the index of the WAL as the first opened it, so if that one may not write, none
/// may. And a session in the state `.abandoned` releases the locks of the whole process when it closes the file. So:
///
/// 1. A writer announces itself, so that no reader opens the file any more.
/// 2. It asks readers that have the file open to close it. Each finishes its read first, which may reopen the file.
/// 3. When no reader has the file open, the writer opens it.
/// 4. The readers open it again with their next read, and share the index that the writer has opened.
///
/// `files` guards the table of files, and the condition of each file guards its users. A reader opens a file, and a
/// writer does so in step 3, while the condition is locked. It is not locked while a reader closes the file.
enum SQLiteReadRegistry {

    /// Identifies a file, independently of its path.
    struct Identity: Hashable {
        private let device: dev_t
        private let number: ino_t

        /// - Returns: `nil`, with `errno` set, if there is no such file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            number = status.st_ino
        }
    }

    private struct Entry {
        weak var reader: SQLiteReader?
    }

    /// The users of a file.
    private struct Users {
        /// The readers that have the file open.
        var readers: [ObjectIdentifier: Entry] = [:]
        /// The number of times that a reader has closed the file.
        var closings = 0
        /// The number of writers that wait until no reader has the file open. Other readers don't open it in the
        /// meantime, or the writers could wait forever.
        var waitingWriters = 0
        /// The readers that writers wait for, with the number of those writers. They may open the file again, because
        /// the writers close it afterwards; they may be in the middle of a read that can't end otherwise.
        var awaited: [ObjectIdentifier: Int] = [:]
    }

    /// The users of a file, and a condition that is signaled when a reader has closed it.
    private final class Watched: @unchecked Sendable {
        // @unchecked because every access to `users` holds `condition`.
        private let condition = NSCondition()
        private var users = Users()

        func withLock<Result>(_ body: (inout Users) throws -> Result) rethrows -> Result {
            condition.lock()
            defer { condition.unlock() }
            return try body(&users)
        }

        /// Notes that a reader has closed the file.
        func remove(_ reader: ObjectIdentifier) {
            withLock { users in
                users.readers[reader] = nil
                users.closings += 1
            }
            condition.broadcast()
        }

        /// Waits until the number of closings exceeds a number.
        func wait(forClosingAfter closings: Int) {
            condition.lock()
            defer { condition.unlock() }
            while users.closings == closings { condition.wait() }
        }

        /// Makes a reader close the file, after its current read.
        func release(_ reader: SQLiteReader) throws {
            let identifier = ObjectIdentifier(reader)
            withLock { $0.awaited[identifier, default: 0] += 1 }
            defer { withLock { $0.awaited[identifier] = $0.awaited[identifier].flatMap { $0 > 1 ? $0 - 1 : nil } } }
            // Without the lock, because the reader may need it.
            try reader.release()
        }
    }

    /// One for each file that the process has ever used; they are small.
    private static let files = Locked<[Identity: Watched]>([:])

    private static func watched(_ identity: Identity) -> Watched {
        files.withLock { files in
            if let file = files[identity] { return file }
            let file = Watched()
            files[identity] = file
            return file
        }
    }

    /// Opens a file for reading only, while no writer in the process opens it.
    ///
    /// - Throws: `SQLITE_BUSY` if a writer waits to open it.
    static func opening<Session>(
        _ identity: Identity,
        by reader: SQLiteReader,
        _ open: () throws -> Session
    ) throws -> Session {
        try watched(identity).withLock { users in
            if users.waitingWriters > 0, users.awaited[ObjectIdentifier(reader)] == nil {
                throw DatabaseError(resultCode: .SQLITE_BUSY, message: "The file is about to be opened for writing.")
            }
            let session = try open()
            users.readers[ObjectIdentifier(reader)] = Entry(reader: reader)
            return session
        }
    }

    /// Notes that a reader has closed a file.
    static func closed(_ identity: Identity, by reader: ObjectIdentifier) {
        watched(identity).remove(reader)
    }

    /// Opens a file for writing, while no reader of the process has it open.
    static func openingToWrite<Pool>(_ path: String, _ open: () throws -> Pool) throws -> Pool {
        guard let identity = Identity(path) else { return try open() }
        let file = watched(identity)
        file.withLock { $0.waitingWriters += 1 }
        defer { file.withLock { $0.waitingWriters -= 1 } }
        while true {
            let (pool, entries, closings) = try file.withLock { users -> (Pool?, [Entry], Int) in
                guard users.readers.isEmpty else { return (nil, Array(users.readers.values), users.closings) }
                return (try open(), [], 0)
            }
            if let pool { return pool }
            let readers = entries.compactMap(\.reader)
            for reader in readers { try WorkerThreads.waiting { try file.release(reader) } }
            // Readers that were released are about to close the file, but have not done so yet.
            if readers.isEmpty { WorkerThreads.waiting { file.wait(forClosingAfter: closings) } }
        }
    }
}
