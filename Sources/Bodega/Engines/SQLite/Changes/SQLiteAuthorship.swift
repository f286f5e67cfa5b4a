import GRDB

/// Who in this process has written what to a file's logs, whichever of the process's connections it went through.
final class SQLiteAuthorship: Sendable {

    /// By the names of the collections' tables; only those whose changes somebody in this process has asked for.
    private let tables = Locked<[String: SQLiteOrigins]>([:])

    private struct Entry: Sendable {
        weak var authorship: SQLiteAuthorship?
    }

    private static let files = Locked<[SQLiteReadRegistry.Identity: Entry]>([:])
    private let identity: SQLiteReadRegistry.Identity?

    private init(_ identity: SQLiteReadRegistry.Identity?) {
        self.identity = identity
    }

    deinit {
        guard let identity else { return }
        Self.files.withLock { files in
            if let entry = files[identity], entry.authorship == nil { files[identity] = nil }
        }
    }

    /// One that nobody shares.
    static var ofNothing: SQLiteAuthorship { SQLiteAuthorship(nil) }

    /// The one of a file, as long as somebody keeps it.
    static func of(_ path: String) -> SQLiteAuthorship {
        guard let identity = SQLiteReadRegistry.Identity(path) else { return .ofNothing }
        return files.withLock { files in
            if let authorship = files[identity]?.authorship { return authorship }
            let authorship = SQLiteAuthorship(identity)
            files[identity] = Entry(authorship: authorship)
            return authorship
        }
    }

    /// Notes who writes what to a table's log from now on.
    func keep(_ table: SQLiteTable) {
        tables.withLock { tables in
            if tables[table.name] == nil { tables[table.name] = SQLiteOrigins() }
        }
    }

    /// Whether it is noted who writes to a table's log.
    func isKept(_ table: SQLiteTable) -> Bool {
        tables.withLock { $0[table.name] != nil }
    }

    /// Changes what is known about a table's log.
    func withOrigins<Result>(of table: SQLiteTable, _ body: (inout SQLiteOrigins) throws -> Result) rethrows -> Result {
        try tables.withLock { try body(&$0[table.name, default: SQLiteOrigins()]) }
    }
}

/// Notes who makes one change, while it is made.
final class SQLiteSignature: Sendable {
    private let authorship: SQLiteAuthorship
    private let log: SQLiteChangeLog
    private let table: SQLiteTable
    private let origin: StorageOrigin

    private struct State: Sendable {
        var note: Int?
        var end: SQLiteLogPosition?
    }

    private let state = Locked(State())

    init(of change: SQLiteChange, in authorship: SQLiteAuthorship) {
        self.authorship = authorship
        self.table = change.table
        self.log = SQLiteChangeLog(of: change.table)
        self.origin = change.author
    }

    /// Carries a change out, inside of a transaction, and notes what it adds to the log if somebody wants to know.
    func sign(in db: Database, _ change: () throws -> Void) throws {
        // The change may be made again, after a transaction that failed.
        drop()
        guard authorship.isKept(table), let before = try log.endIfThere(in: db) else { return try change() }
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        try authorship.withOrigins(of: table) { origins in
            try origins.check(against: before, schema: schema) { try log.has($0, in: db) }
        }
        try change()
        guard let after = try log.endIfThere(in: db), after.number > before.number else { return }
        let note = SQLiteOrigins.Note(first: before.number + 1, last: after, origin: origin)
        let id = authorship.withOrigins(of: table) { $0.note(note) }
        state.withLock { $0 = State(note: id, end: after) }
    }

    /// The change was committed.
    ///
    /// - Returns: The log's end behind it, if it is known.
    func settle() -> SQLiteLogPosition? {
        state.withLock { state in
            if let note = state.note { authorship.withOrigins(of: table) { $0.settle(note) } }
            state.note = nil
            return state.end
        }
    }

    /// The change was not committed.
    func drop() {
        state.withLock { state in
            if let note = state.note { authorship.withOrigins(of: table) { $0.drop(note) } }
            state = State()
        }
    }
}
