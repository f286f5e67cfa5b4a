#if Postgres
import Bodega
public import Foundation

/// A database on a PostgreSQL server, and the connections that its collections share.
///
/// ```swift
/// let database = try await PostgresDatabase(connecting: "postgres://app@db.example.com/notes")
/// let notes = try await database.collection(named: "notes")
/// let drafts = try await database.collection(named: "drafts")
/// ```
///
/// - Short reads share connections, with several reads in flight on each. A write, a bulk read and a scan use one
///   connection each. When all are in use, operations wait in order of arrival, for up to ``Options/timeout``.
/// - When the server becomes unreachable, operations wait for it, or for the server that replaces it, and then
///   continue. A write is not applied twice.
/// - Batches of several of its collections can be applied together, see ``/Bodega/StorageTransaction``.
/// - The connections close when the last engine and database that use them are released, or with ``close()``.
public final class PostgresDatabase: Sendable {

    /// Options of a database: limits of connections, time and storage.
    public struct Options: Sendable {

        /// The maximum number of connections for operations, by default 8, at least 2. Following changes uses one more,
        /// and reads at one moment use up to a quarter as many more, see ``PostgresDatabase/atOneMoment(_:)``.
        public var maximumConnections: Int

        /// How long a server may take to accept a connection, in seconds, by default 10. With several hosts, each has
        /// at most its share of ``timeout``, so that a silent host leaves time for the next one.
        public var connectTimeout: TimeInterval

        /// How long an operation may wait, in seconds, by default 30: for a free connection, for an unreachable server,
        /// and for the answer of a silent one. While an answer arrives, it may take longer. A bulk operation has an
        /// additional millisecond for each item. A connection that was idle has half of the time to answer; then the
        /// operation is repeated on a new connection. A write that fails takes up to 5 more seconds to find out whether
        /// it was applied.
        public var timeout: TimeInterval

        /// The number of partitions of the table of items, by default 8. The first program that opens the database
        /// determines it, and it never changes afterwards.
        public var partitions: Int

        /// The minimum number of changes in the log, by default 100,000. The maximum is about twice as many. Up to
        /// 1,000 items of one batch count as one change. A follower that missed more changes receives a snapshot.
        public var changeLogLimit: Int

        /// Whether the tables and collections must exist, by default `false`. If `true`, missing ones are not created.
        public var mustExist: Bool

        /// The minimum age of a change that is trimmed from the log, in seconds. It exceeds the time for which a
        /// program repeats a write, because a repeated write finds earlier attempts in the log.
        var requestAge: TimeInterval

        static let usualRequestAge: TimeInterval = 300
        static let greatestRequestAge: TimeInterval = 86_400

        /// Creates options.
        ///
        /// - Parameters:
        ///   - maximumConnections: The maximum number of connections for operations, at least 2.
        ///   - connectTimeout: How long a server may take to accept a connection, in seconds.
        ///   - timeout: How long an operation may wait for a connection, a server or an answer, in seconds.
        ///   - partitions: The number of partitions of a new table of items, 1 to 1,024.
        ///   - changeLogLimit: The minimum number of changes in the log, at least 1.
        ///   - mustExist: Whether the tables and collections must exist.
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
    /// The pool for reads at one moment, whose tasks can need sessions of the other one.
    let moments: SessionPool
    let retries: Retries
    let announcer: ChangeAnnouncer
    let listener: ChangeListener
    let trimmer: ChangeTrimmer
    let fence: WriteFence
    let searchUpdates: SearchUpdates
    /// The lanes among which short reads are distributed.
    private let lanes: [ReadLane]

    /// Connects to a database, and creates its tables if they are missing.
    ///
    /// - Parameters:
    ///   - connectionString: A URL such as `postgres://app@db.example.com/notes`, or settings such as
    ///     `host=db.example.com dbname=notes`. Missing settings come from libpq's other sources: the `PG…` variables,
    ///     the service file and the pass file. With several hosts, the one that accepts writes is used.
    ///   - options: The options.
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/unreachable`` if no server could be reached,
    ///   ``/Bodega/StorageError/Code/permissionDenied`` if the server rejected the user,
    ///   ``/Bodega/StorageError/Code/cannotOpen`` if the database does not exist,
    ///   ``/Bodega/StorageError/Code/invalidArgument`` if the string is invalid. Errors contain no password.
    public convenience init(connecting connectionString: String, options: Options = Options()) async throws {
        try await self.init(connecting: connectionString, options: options, clock: ContinuousClock())
    }

    init(connecting connectionString: String, options: Options, clock: any Clock<Duration>) async throws {
        guard options.maximumConnections >= 2 else {
            throw StorageError(
                .invalidArgument, "maximumConnections is \(options.maximumConnections). Allow at least 2 connections.")
        }
        guard !options.timeout.isNaN, !options.connectTimeout.isNaN else {
            throw StorageError(.invalidArgument, "A timeout is NaN. Set a number of seconds.")
        }
        guard (1...1_024).contains(options.partitions) else {
            throw StorageError(.invalidArgument, "partitions is \(options.partitions). Choose 1 to 1,024.")
        }
        guard options.changeLogLimit >= 1 else {
            throw StorageError(.invalidArgument, "changeLogLimit is \(options.changeLogLimit). Keep at least 1 change.")
        }
        let target = try ConnectionTarget(connectionString)
        // Short reads have connections of their own, so that they never wait for long operations.
        let laneCount = max(1, min(options.maximumConnections / 2, ProcessInfo.processInfo.activeProcessorCount))
        pool = SessionPool(
            target: target, limit: options.maximumConnections - laneCount, connectTimeout: options.connectTimeout,
            timeout: options.timeout)
        moments = SessionPool(
            target: target, limit: max(1, options.maximumConnections / 4), connectTimeout: options.connectTimeout,
            timeout: options.timeout)
        pool.whenSuspecting { [moments] in moments.suspectConnections() }
        lanes = (0..<laneCount).map { [pool] _ in ReadLane(pool: pool) }
        announcer = ChangeAnnouncer(pool: pool)
        listener = ChangeListener(pool: pool, clock: clock, connectTimeout: options.connectTimeout)
        trimmer = ChangeTrimmer(pool: pool, limit: options.changeLogLimit, age: options.requestAge)
        fence = WriteFence(pool: pool, clock: clock, timeout: min(2, options.connectTimeout))
        retries = Retries(clock: clock, hasSeveralHosts: target.hosts.count > 1)
        searchUpdates = SearchUpdates(pool: pool, retries: retries)
        self.options = options
        try await Self.open(pool, retries, options)
    }

    deinit { disconnect() }

    private static func open(_ pool: SessionPool, _ retries: Retries, _ options: Options) async throws {
        let migrator = Migrator(partitions: options.partitions)
        do {
            // Fails immediately if the server can't be reached, and waits if it is starting or has no connection left.
            try await retries.whileConflicting(until: .after(options.connectTimeout)) { _ in
                try await pool.withSession { session in
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

    /// Adopts a log written in another database, and records this program's request age if it is longer than usual.
    private static func prepareLog(_ options: Options, _ session: Session) async throws {
        do {
            try await LogAdoption.adoptIfNeeded(session)
            if options.requestAge > Options.usualRequestAge {
                try await session.run(Command(ChangeStatements.noteRequestAge, Int64(options.requestAge)))
            }
        } catch let failure as PostgresFailure where failure.forbidsWriting {
            // A user without the right to write needs neither.
        }
    }

    /// Waits until the followers have been notified of all changes, and closes all connections after the operations in
    /// progress, for all engines on this database. Later operations throw ``/Bodega/StorageError/Code/closed``.
    ///
    /// Call it in a program that exits after a write. Otherwise followers may find the last change only when they poll,
    /// up to about a second later.
    public func close() async {
        await announcer.finish()
        disconnect()
    }

    /// Closes all connections after the operations in progress, like a process that ends.
    package func disconnect() {
        listener.close()
        pool.close()
        moments.close()
        for lane in lanes { lane.close() }
    }

    // MARK: Collections

    /// Returns a collection of items, which is created if it is missing, unless ``Options/mustExist`` is `true`.
    ///
    /// Equal keys name different items in different collections.
    ///
    /// - Parameters:
    ///   - name: The collection's name, which must not be empty. Names are compared byte by byte.
    ///   - now: Returns the current time, for the dates of the items.
    /// - Throws: A ``/Bodega/StorageError``, with ``/Bodega/StorageError/Code/cannotOpen`` if the collection must exist
    ///   and does not.
    public func collection(
        named name: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> PostgresStorageEngine {
        guard !name.isEmpty else {
            throw StorageError(.invalidArgument, "The collection's name is empty. Pass a name.")
        }
        let number = try await perform { session in
            try await CollectionTable.number(of: name, mustExist: self.options.mustExist, in: session)
        }
        return PostgresStorageEngine(database: self, name: name, number: number, now: now)
    }

    /// Returns the names of the collections, in the order in which they were created.
    ///
    /// - Throws: A ``/Bodega/StorageError`` if they could not be read.
    public func collectionNames() async throws -> [String] {
        try await perform { try await CollectionTable.names(in: $0) }
    }

    /// Removes a collection with all of its items and its indexes. Does nothing if there is none of this name.
    ///
    /// Engines that are open on the collection, in any program, throw ``/Bodega/StorageError/Code/placeRemoved`` from
    /// then on, also when a new collection has its name. Followers of the collection get the same error. Writers of all
    /// collections wait while the items are removed.
    ///
    /// - Parameter name: The collection's name.
    /// - Throws: A ``/Bodega/StorageError`` if it could not be removed; its items are then unchanged.
    public func removeCollection(named name: String) async throws {
        guard let number = try await perform({ try await CollectionTable.number(of: name, in: $0) }) else { return }
        try await PostgresStorageEngine(database: self, name: name, number: number, now: { Date() }).removeCollection()
    }

    // MARK: Operations

    /// Performs an operation on a session, and repeats it after conflicts and outages.
    func perform<Value>(key: CacheKey? = nil, _ body: @escaping (Session) async throws -> Value) async throws -> Value {
        do {
            return try await attempt(until: .after(options.timeout)) { session, _ in try await body(session) }
        } catch {
            throw StorageError.postgres(error, key: key)
        }
    }

    /// Performs an operation on a session, and repeats it after conflicts and outages until a deadline.
    ///
    /// - Parameter body: The operation. It receives the session and the number of the attempt, from 0.
    /// - Throws: A ``PostgresFailure``, or an error of the closure.
    func attempt<Value>(
        until deadline: PostgresDeadline, _ body: (Session, Int) async throws -> Value
    ) async throws -> Value {
        try await retries.untilDone(by: deadline) { attempt in
            try await pool.withSession(until: deadline) { try await body($0, attempt) }
        }
    }

    /// Performs a short read on a shared connection, and repeats it after conflicts and outages.
    ///
    /// - Parameter isAtMoment: Whether it answers from the moment of the task, if that has one.
    func read(_ command: Command, key: CacheKey? = nil, isAtMoment: Bool = true) async throws -> QueryResult {
        if isAtMoment, let result = try await readAtMoment(key: key, { try await $0.run(command) }) { return result }
        let deadline = PostgresDeadline.after(options.timeout)
        do {
            do {
                return try await lanes.next.run(ReadLane.Read(command, until: deadline, isFirstAttempt: true))
            } catch let failure as PostgresFailure {
                // A dead connection has used half of the time.
                let deadline = failure.kind == .silent ? .after(options.timeout) : deadline
                return try await retries.untilDone(by: deadline, after: failure) { _ in
                    try await lanes.next.run(ReadLane.Read(command, until: deadline))
                }
            }
        } catch {
            throw StorageError.postgres(pool.explained(error), key: key)
        }
    }
}
#endif
