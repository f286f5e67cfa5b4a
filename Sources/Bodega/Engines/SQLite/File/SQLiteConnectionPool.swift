import GRDB

/// The connections to a file that can be written to: one that writes, and some that read.
///
/// 1. A reader, admitted by the ``ReaderGate``, takes an idle connection, or opens one if there is none.
/// 2. It reads, in a transaction if it needs more than one statement, and returns the connection.
///
/// `idle` guards the connections that no reader uses.
///
/// GRDB's `DatabasePool` looks for a changed schema before each read, for a cache that this package does not use, and
/// writes to a file with an empty WAL when it opens it. This does neither.
final class SQLiteConnectionPool: Sendable {

    /// Maximum number of connections that read.
    static let maximumReaderCount = 5

    let writer: DatabaseQueue

    private struct Idle {
        var readers: [DatabaseQueue] = []
        var isClosed = false
    }

    private let idle = Locked(Idle())

    /// Opens the connection that writes.
    init(path: String, configuration: Configuration) throws {
        writer = try DatabaseQueue(path: path, configuration: configuration)
    }

    deinit {
        // The last connection empties and removes the WAL, which readers may not do.
        idle.withLock { $0.readers = [] }
    }

    /// Reads, blocking the caller while the closure runs.
    ///
    /// - Parameters:
    ///   - isTransaction: Whether all statements read from one snapshot.
    ///   - body: Reads.
    func read<Value>(isTransaction: Bool, _ body: (Database) throws -> Value) throws -> Value {
        let reader = try takeReader()
        defer { idle.withLock { $0.readers.append(reader) } }
        return try isTransaction ? reader.read(body) : reader.unsafeRead(body)
    }

    private func takeReader() throws -> DatabaseQueue {
        let reader = try idle.withLock { idle in
            if idle.isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed") }
            return idle.readers.popLast()
        }
        if let reader { return reader }
        var configuration = writer.configuration
        configuration.readonly = true
        return try DatabaseQueue(path: writer.path, configuration: configuration)
    }

    /// Closes all connections. No reader may be inside of the gate.
    func close() throws {
        try idle.withLock { idle in
            // Readers first, see `deinit`.
            while let reader = idle.readers.last {
                try reader.close()
                idle.readers.removeLast()
            }
            try writer.close()
            idle.isClosed = true
        }
    }
}
