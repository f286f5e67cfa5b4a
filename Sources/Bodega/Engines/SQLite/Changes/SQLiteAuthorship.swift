import GRDB

/// Who in this process has written what to a file's logs, whichever of the process's connections it went through.
final class SQLiteAuthorship: Sendable {

    /// By the names of the collections' tables; only those whose changes somebody in this process has asked for.
    private let tables = Locked<[String: SQLiteOrigins]>([:])

    private struct Entry: Sendable {
        weak var authorship: SQLiteAuthorship?
        /// Tells the authorships of one file apart that follow one another.
        let number: Int
    }

    private struct Files: Sendable {
        var entries: [SQLiteReadRegistry.Identity: Entry] = [:]
        var lastNumber = 0
    }

    private static let files = Locked(Files())
    private let identity: SQLiteReadRegistry.Identity?
    private let number: Int

    private init(_ identity: SQLiteReadRegistry.Identity?, number: Int) {
        self.identity = identity
        self.number = number
    }

    deinit {
        guard let identity else { return }
        Self.files.withLock { files in
            // The entry's reference is left alone: to look at it might release another authorship here.
            if files.entries[identity]?.number == number { files.entries[identity] = nil }
        }
    }

    /// The one of a file, as long as somebody keeps it; one that nobody shares if there is no such file.
    static func of(_ path: String) -> SQLiteAuthorship {
        guard let identity = SQLiteReadRegistry.Identity(path) else { return SQLiteAuthorship(nil, number: 0) }
        return files.withLock { files in
            if let authorship = files.entries[identity]?.authorship { return authorship }
            files.lastNumber += 1
            let authorship = SQLiteAuthorship(identity, number: files.lastNumber)
            files.entries[identity] = Entry(authorship: authorship, number: files.lastNumber)
            return authorship
        }
    }

    /// Notes who writes what to a table's log from now on. What is under way may not be noted, see ``areComplete(_:)``.
    func keep(_ table: SQLiteTable) {
        tables.withLock { tables in
            if tables[table.name] == nil { tables[table.name] = SQLiteOrigins() }
        }
    }

    /// Whether it is noted who writes to a table's log.
    func isKept(_ table: SQLiteTable) -> Bool {
        tables.withLock { $0[table.name] != nil }
    }

    /// Whether everything that is under way is noted, too.
    func areComplete(_ table: SQLiteTable) -> Bool {
        tables.withLock { $0[table.name]?.areComplete ?? false }
    }

    /// Changes what is known about a table's log. Those who write wait meanwhile, so the file must not be asked here.
    func withOrigins<Result>(of table: SQLiteTable, _ body: (inout SQLiteOrigins) -> Result) -> Result {
        tables.withLock { body(&$0[table.name, default: SQLiteOrigins()]) }
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
        var span: Span?
    }

    private let state = Locked(State())

    /// From where to where in the log a change reaches.
    struct Span: Sendable {
        /// The last row before it.
        let before: SQLiteLogPosition
        /// Its own last row, the same if it has changed nothing.
        let after: SQLiteLogPosition
        let author: StorageOrigin
    }

    private init(of change: SQLiteChange, in authorship: SQLiteAuthorship) {
        self.authorship = authorship
        self.table = change.table
        self.log = change.table.log
        self.origin = change.author
    }

    /// Carries a change out, inside of a transaction, and notes what it adds to the log if somebody wants to know.
    ///
    /// - Returns: `nil` if nobody wants to know, or there is no log.
    static func sign(
        _ change: SQLiteChange,
        in authorship: SQLiteAuthorship,
        _ db: Database,
        _ work: () throws -> Void
    ) throws -> SQLiteSignature? {
        guard authorship.isKept(change.table) else {
            try work()
            return nil
        }
        let signature = SQLiteSignature(of: change, in: authorship)
        return try signature.sign(in: db, work) ? signature : nil
    }

    private func sign(in db: Database, _ work: () throws -> Void) throws -> Bool {
        guard let before = try endIfThere(in: db) else {
            try work()
            return false
        }
        while let proof = authorship.withOrigins(of: table, { $0.proof(excluding: before) }) {
            if try log.has(proof, in: db) { break }
            authorship.withOrigins(of: table) { $0.forget(without: proof) }
        }
        try work()
        guard let after = try log.endIfThere(in: db), after.number >= before.number else { return false }
        let span = Span(before: before, after: after, author: origin)
        var id: Int?
        if after != before {
            let note = SQLiteOrigins.Note(first: before.number + 1, last: after, origin: origin)
            id = authorship.withOrigins(of: table) { $0.note(note) }
        }
        state.withLock { $0 = State(note: id, span: span) }
        return true
    }

    /// The log's last row. Where there is no log, it is looked for again only when the schema has changed.
    private func endIfThere(in db: Database) throws -> SQLiteLogPosition? {
        let without = authorship.withOrigins(of: table) { $0.schemaWithoutLog }
        if let without, try SQLiteChangeLog.schemaVersion(in: db) == without { return nil }
        let end = try log.endIfThere(in: db)
        if without == nil, end != nil { return end }
        authorship.withOrigins(of: table) { $0.schemaWithoutLog = nil }
        guard end == nil else { return end }
        let schema = try SQLiteChangeLog.schemaVersion(in: db)
        // Only then: the transaction may have changed the schema, and after a rollback, others use its version again.
        db.afterNextTransaction { [authorship, table] _ in
            authorship.withOrigins(of: table) { $0.schemaWithoutLog = schema }
        }
        return nil
    }

    /// The change was committed.
    ///
    /// - Returns: From where to where it reaches, if that is known.
    func settle() -> Span? {
        state.withLock { state in
            if let note = state.note { authorship.withOrigins(of: table) { $0.settle(note) } }
            state.note = nil
            return state.span
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
