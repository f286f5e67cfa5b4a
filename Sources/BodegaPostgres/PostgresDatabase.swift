#if Postgres
import Bodega
public import Foundation

/// A database on a PostgreSQL server, with the connections that its collections share.
///
/// ```swift
/// let database = try await PostgresDatabase(connecting: "postgres://app@db.example.com/notes")
/// let notes = try await database.collection(named: "notes")
/// let drafts = try await database.collection(named: "drafts")
/// ```
///
/// - Short reads share connections, several under way on each. A write, a bulk read and a scan have one to themselves.
///   Who finds none left waits, first come, first served, for as long as ``Options/timeout``.
/// - When the server goes away, operations wait for it, or for the one that takes its place, and go on by themselves; a
///   write is not applied twice.
/// - The connections close with the last engine and database that use them, or with ``close()``.
public final class PostgresDatabase: Sendable {

    /// How a database is used.
    public struct Options: Sendable {

        /// The most connections for operations, by default 8, at least 2. Each engine that follows changes has one
        /// more.
        public var maximumConnections: Int

        /// How long a server may take to accept a connection, in seconds, by default 10. Of several hosts, each has no more
        /// than its share of ``timeout``, so that one that is silent leaves time for the next.
        public var connectTimeout: TimeInterval

        /// How long an operation may wait, in seconds, by default 30: for a free connection, for a server that went
        /// away to come back, and for one that is silent to answer. A bulk operation has a millisecond more for each
        /// item. A connection that was idle has half of it to answer, before the operation is repeated on a new one. A
        /// write that fails takes up to 5 seconds more to find out whether it was applied.
        public var timeout: TimeInterval

        /// The number of partitions that the table of items gets if this is the first program that opens the database,
        /// by default 8. It is never changed afterwards.
        public var partitions: Int

        /// The number of changes that the log keeps at least, by default 100,000, and at most about twice as many; up
        /// to 1,000 items of one batch count as one change. Who follows the changes and was away for more gets a
        /// snapshot.
        public var changeLogLimit: Int

        /// Whether the tables and collections must be there, by default `false`. Then nothing that is missing is created.
        public var mustExist: Bool

        /// How old a change must be before the log may do without it, in seconds, whatever else is in the log: longer
        /// than any program tries to repeat a write, which looks there for what became of its attempts.
        var requestAge: TimeInterval

        static let usualRequestAge: TimeInterval = 300
        static let greatestRequestAge: TimeInterval = 86_400

        /// Describes how a database is used.
        ///
        /// - Parameters:
        ///   - maximumConnections: The most connections for operations, at least 2.
        ///   - connectTimeout: How long a server may take to accept a connection, in seconds.
        ///   - timeout: How long an operation may wait for a connection, a server or an answer, in seconds.
        ///   - partitions: The number of partitions of a new table of items, 1 to 1,024.
        ///   - changeLogLimit: The number of changes that the log keeps at least.
        ///   - mustExist: Whether the tables and collections must be there.
        public init(
            maximumConnections: Int = 8,
            connectTimeout: TimeInterval = 10,
            timeout: TimeInterval = 30,
            partitions: Int = 8,
            changeLogLimit: Int = 100_000,
            mustExist: Bool = false
        ) {
            self.maximumConnections = maximumConnections
            self.connectTimeout = connectTimeout
            self.timeout = timeout
            self.partitions = partitions
            self.changeLogLimit = changeLogLimit
            self.mustExist = mustExist
            requestAge = min(max(Self.usualRequestAge, 4 * timeout), Self.greatestRequestAge)
        }
    }

    let options: Options
    let pool: SessionPool
    let retries: Retries
    let announcer: ChangeAnnouncer
    let listener: ChangeListener
    let trimmer: ChangeTrimmer
    let fence: WriteFence
    private let lanes: LaneGroup

    /// Connects to a database, and creates the tables in it if they are missing.
    ///
    /// - Parameters:
    ///   - connectionString: A URL such as `postgres://app@db.example.com/notes`, or settings such as
    ///     `host=db.example.com dbname=notes`. What it leaves open comes from libpq's other sources: the `PG…`
    ///     variables, the service file and the pass file. With several hosts, the one that can be written to is used.
    ///   - options: How it is used.
    /// - Throws: A ``StorageError``: ``StorageError/Code/unreachable`` if no server could be reached,
    ///   ``StorageError/Code/permissionDenied`` if it refused the user, ``StorageError/Code/cannotOpen`` if there is no
    ///   such database, ``StorageError/Code/invalidArgument`` if the string can't be understood. None shows a password.
    public convenience init(connecting connectionString: String, options: Options = Options()) async throws {
        try await self.init(connecting: connectionString, options: options, clock: ContinuousClock())
    }

    init(connecting connectionString: String, options: Options, clock: any Clock<Duration>) async throws {
        guard options.maximumConnections >= 2 else {
            throw StorageError(.invalidArgument, "A database needs at least 2 connections.")
        }
        guard !options.timeout.isNaN, !options.connectTimeout.isNaN else {
            throw StorageError(.invalidArgument, "A timeout is a number of seconds, not NaN.")
        }
        guard (1...1_024).contains(options.partitions) else {
            throw StorageError(.invalidArgument, "A table has 1 to 1,024 partitions.")
        }
        guard options.changeLogLimit >= 1 else {
            throw StorageError(.invalidArgument, "A log keeps at least one change.")
        }
        let target = try ConnectionTarget(connectionString)
        // A part for short reads, which never wait for long operations then, and the rest for everything else.
        let laneCount = max(1, min(options.maximumConnections / 2, ProcessInfo.processInfo.activeProcessorCount))
        pool = SessionPool(
            target: target,
            limit: options.maximumConnections - laneCount,
            connectTimeout: options.connectTimeout
        )
        lanes = LaneGroup(pool: pool, count: laneCount)
        announcer = ChangeAnnouncer(pool: pool, timeout: options.timeout)
        listener = ChangeListener(pool: pool, clock: clock, connectTimeout: options.connectTimeout)
        trimmer = ChangeTrimmer(
            pool: pool, limit: options.changeLogLimit, timeout: options.timeout, age: options.requestAge)
        fence = WriteFence(pool: pool, clock: clock, timeout: min(2, options.connectTimeout))
        retries = Retries(clock: clock, hasSeveralHosts: target.hosts.count > 1)
        self.options = options
        try await Self.open(pool, retries, options)
    }

    deinit { close() }

    private static func open(_ pool: SessionPool, _ retries: Retries, _ options: Options) async throws {
        let migrator = Migrator(partitions: options.partitions, patience: options.timeout)
        do {
            // A server that isn't there is told at once; one that is starting, or has no connection left, is waited
            // for.
            try await retries.whileConflicting(until: .after(options.connectTimeout)) { _ in
                try await pool.withSession(until: .after(options.timeout)) { session in
                    try await PoolerProbe.check(session, pool, patience: options.connectTimeout)
                    if options.mustExist {
                        try await migrator.check(session)
                    } else {
                        try await migrator.migrate(session)
                        try await prepareLog(options, session)
                    }
                }
            }
        } catch {
            throw StorageError.postgres(error)
        }
    }

    /// Makes the log of changes this database's, for users who may only read it, and notes for all programs that trim it if
    /// this one repeats writes for longer than usual.
    private static func prepareLog(_ options: Options, _ session: Session) async throws {
        do {
            try await LogHome.settle(session, patience: options.timeout)
            if options.requestAge > Options.usualRequestAge {
                var parameters = Parameters()
                parameters.append(Int64(options.requestAge))
                let command = Command(ChangeStatements.noteRequestAge, parameters)
                _ = try await session.run(command, patience: options.timeout)
            }
        } catch let failure as PostgresFailure where failure.code == "42501" || failure.code == "25006" {
            // A user who may not write needs neither.
        }
    }

    /// Closes all connections. What is under way ends first; what is asked for afterwards throws
    /// ``StorageError/Code/cannotOpen``.
    public func close() {
        listener.close()
        pool.close()
        lanes.close()
    }

    /// Waits until the changes that were made are announced to those who follow them, and closes all connections.
    ///
    /// A program that writes and ends at once calls this. After ``close()`` alone, others may hear of its last change
    /// only when they look by themselves, about a second later.
    public func finish() async {
        await announcer.finish()
        close()
    }

    // MARK: Collections

    /// A collection of items, created if it is missing and ``Options/mustExist`` does not forbid that.
    ///
    /// Equal keys name different items in different collections.
    ///
    /// - Parameters:
    ///   - name: The collection's name; any string but the empty one. Names are told apart byte by byte.
    ///   - now: Tells the time, for the dates of the items.
    /// - Throws: A ``StorageError`` if it could not be created, ``StorageError/Code/cannotOpen`` if it must exist and doesn't.
    public func collection(
        named name: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> PostgresStorageEngine {
        guard !name.isEmpty else { throw StorageError(.invalidArgument, "A collection's name can't be empty.") }
        let number = try await perform { session in
            let (mustExist, patience) = (self.options.mustExist, self.options.timeout)
            return try await CollectionTable.number(of: name, mustExist: mustExist, in: session, patience: patience)
        }
        return PostgresStorageEngine(database: self, name: name, number: number, now: now)
    }

    /// The names of the collections, in the order in which they were created.
    ///
    /// - Throws: A ``StorageError`` if they could not be read.
    public func collectionNames() async throws -> [String] {
        try await perform { try await CollectionTable.names(in: $0, patience: self.options.timeout) }
    }

    // MARK: Operations

    /// Does something on a connection of its own; again if others were in its way or the server went away.
    func perform<Value>(
        key: CacheKey? = nil,
        _ body: @escaping (Session) async throws -> Value
    ) async throws -> Value {
        do {
            return try await attempt(until: .after(options.timeout)) { session, _ in try await body(session) }
        } catch {
            throw StorageError.postgres(error, key: key)
        }
    }

    /// The same until a deadline. The closure gets the number of the attempt, from 0.
    ///
    /// - Throws: A ``PostgresFailure``, or what the closure throws.
    func attempt<Value>(
        until deadline: PostgresDeadline,
        _ body: (Session, Int) async throws -> Value
    ) async throws -> Value {
        try await retries.untilDone(by: deadline) { attempt in
            try await pool.withSession(until: deadline) { try await body($0, attempt) }
        }
    }

    /// Does a short read on a shared connection.
    func read(_ command: Command, key: CacheKey? = nil) async throws -> QueryResult {
        let deadline = PostgresDeadline.after(options.timeout)
        do {
            return try await lanes.next().run(ReadLane.Read(command, until: deadline, isFirstAttempt: true))
        } catch let failure as PostgresFailure where failure.isOutage || failure.isConflict {
            // A connection that was dead has used up half of the time.
            let deadline = failure.kind == .silent ? .after(options.timeout) : deadline
            return try await readAgain(command, key: key, after: failure, until: deadline)
        } catch {
            throw StorageError.postgres(error, key: key)
        }
    }

    private func readAgain(
        _ command: Command,
        key: CacheKey?,
        after failure: PostgresFailure,
        until deadline: PostgresDeadline
    ) async throws -> QueryResult {
        do {
            return try await retries.untilDone(by: deadline, after: failure) { _ in
                try await lanes.next().run(ReadLane.Read(command, until: deadline, isFirstAttempt: false))
            }
        } catch {
            throw StorageError.postgres(error, key: key)
        }
    }
}
#endif
