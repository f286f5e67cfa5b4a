import Foundation
import GRDB

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps a process from beginning to write to a file by what it has opened for reading only.
///
/// Connections of one process share the index of the log as the first of them opened it, so if that one may not write,
/// none may. And a reader of what a crash has left takes away the locks of the whole process when it closes. So a file is
/// closed by its readers before it is opened for writing; they open it anew with their next read, and share what the writer
/// has opened.
enum SQLiteReadRegistry {

    /// What tells files apart, whatever their paths.
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

    /// Who uses a file. Whoever opens it holds the lock meanwhile.
    private struct Users {
        /// The readers that have the file open.
        var readers: [ObjectIdentifier: Entry] = [:]
        /// How often a reader has closed the file.
        var closings = 0
        /// How many wait until no reader has the file open. No other reader opens it meanwhile, or they could wait forever.
        var waitingWriters = 0
        /// The readers that are waited for just now, with how many wait. These may open the file anew, since whoever waits for
        /// them closes it again; they may be in the middle of a read that can't end otherwise.
        var awaited: [ObjectIdentifier: Int] = [:]
    }

    /// The users of a file, and a bell that rings when a reader has closed it.
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

        /// Waits until readers have closed the file more often than so many times.
        func wait(forClosingAfter closings: Int) {
            condition.lock()
            defer { condition.unlock() }
            while users.closings == closings { condition.wait() }
        }

        /// Lets a reader close the file, when it has ended what it does.
        func release(_ reader: SQLiteReader) throws {
            let identifier = ObjectIdentifier(reader)
            withLock { $0.awaited[identifier, default: 0] += 1 }
            defer { withLock { $0.awaited[identifier] = $0.awaited[identifier].flatMap { $0 > 1 ? $0 - 1 : nil } } }
            // Without the lock, because the reader may want that.
            try reader.release()
        }
    }

    /// There are as many as files that the process has ever used; they are small.
    private static let files = Locked<[Identity: Watched]>([:])

    private static func watched(_ identity: Identity) -> Watched {
        files.withLock { files in
            if let file = files[identity] { return file }
            let file = Watched()
            files[identity] = file
            return file
        }
    }

    /// Opens a file for reading only, while nobody in the process opens it for writing.
    ///
    /// - Throws: `SQLITE_BUSY` if somebody waits to open it for writing.
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
            for reader in readers { try file.release(reader) }
            // Those that are gone are about to close the file, but have not done so yet.
            if readers.isEmpty { file.wait(forClosingAfter: closings) }
        }
    }
}
