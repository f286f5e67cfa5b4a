import Foundation

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

    /// The readers that have a file open. Whoever opens it holds the lock meanwhile.
    private typealias Readers = Locked<[ObjectIdentifier: Entry]>

    /// There are as many as files that the process has ever used; they are small.
    private static let files = Locked<[Identity: Readers]>([:])

    private static func readers(of identity: Identity) -> Readers {
        files.withLock { files in
            if let readers = files[identity] { return readers }
            let readers = Readers([:])
            files[identity] = readers
            return readers
        }
    }

    /// Opens a file for reading only, while nobody in the process opens it for writing.
    static func opening<Session>(
        _ identity: Identity,
        by reader: SQLiteReader,
        _ open: () throws -> Session
    ) rethrows -> Session {
        try readers(of: identity).withLock { readers in
            let session = try open()
            readers[ObjectIdentifier(reader)] = Entry(reader: reader)
            return session
        }
    }

    /// Notes that a reader has closed a file.
    static func closed(_ identity: Identity, by reader: ObjectIdentifier) {
        _ = readers(of: identity).withLock { $0.removeValue(forKey: reader) }
    }

    /// Opens a file for writing, while no reader of the process has it open.
    static func openingToWrite<Pool>(_ path: String, _ open: () throws -> Pool) throws -> Pool {
        guard let identity = Identity(path) else { return try open() }
        let readers = readers(of: identity)
        while true {
            // A reader is waited for without the lock, because it may want that.
            for entry in readers.withLock({ Array($0.values) }) { try entry.reader?.release() }
            let pool = try readers.withLock { readers -> Pool? in
                // One that is being released is among them until its file is closed.
                guard readers.isEmpty else { return nil }
                return try open()
            }
            if let pool { return pool }
        }
    }
}
