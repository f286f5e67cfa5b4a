import Foundation
import GRDB
import Logging

/// Creates an index beside readers and writers.
///
/// 1. A transaction creates the tables of an ``SQLiteIndexBuild``, or finds those of a creation that was killed. If
///    there are few items, it creates the index, and nothing else happens.
/// 2. The items are read in parts, in the order of their row numbers, and the entries of each part are added in a
///    transaction of its own, before which other writers get a chance.
/// 3. The items that were changed since step 1 are read again in parts. If few are left, the same transaction makes the
///    entries the index of the items' table.
/// 4. What remains is removed in parts.
///
/// Each transaction first looks where the creation is, so several programs can create an index together. If one of
/// them gives up, or removes the index, the others begin again.
///
/// A task that is cancelled, or that fails other than because of a lock, removes everything, unless others go on.
struct SQLiteIndexBuilder: Sendable {

    /// How long transactions are, and what is between them.
    struct Pace: Sendable {
        var limits = SQLiteIndexBuild.Limits()
        /// How long the statements of a transaction should take. Its commit takes as long again or twice as long,
        /// because nearly each entry can be on another page.
        var time: Duration = .milliseconds(25)
        /// The time for other writers. While they wait, SQLite pauses for 25 milliseconds at most in the first tenth of
        /// a second, so they find it.
        var pause: Duration = .milliseconds(30)
        /// The limits of the number of items. Each commit writes again what the one before has written, so small ones
        /// would take most of the time.
        var rows = 5_000...25_000

        /// Adjusts the limit of the number of items after statements that took a time.
        mutating func adjust(to duration: Duration) {
            if duration > time { limits.rows = max(limits.rows / 2, rows.lowerBound) }
            if duration < time / 2 { limits.rows = min(limits.rows * 3 / 2, rows.upperBound) }
        }
    }

    let file: SQLiteFile
    let build: SQLiteIndexBuild
    var pace = Pace()
    let progress: @Sendable (Int, Int) -> Void

    init(
        of index: SQLiteIndex, _ table: SQLiteTable, in file: SQLiteFile,
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) {
        (self.file, self.progress) = (file, progress)
        build = SQLiteIndexBuild(of: index, table)
    }

    /// How often the creation begins again after others have removed the tables.
    private static let attempts = 100
    /// How long others have time to show that they go on.
    private static let patience = Duration.milliseconds(300)

    func create() async throws {
        do {
            for _ in 0..<Self.attempts where try await attempt() { return }
            throw StorageError(
                .locked, "The index was removed again and again while it was created. Create it in one program only.",
                file: file.url)
        } catch let error as StorageError where error.code == .locked || error.code == .closed {
            // The next creation goes on.
            throw error
        } catch {
            await removeInOtherTask()
            throw error
        }
    }

    /// - Returns: `false` if the tables are gone.
    private func attempt() async throws -> Bool {
        var pace = pace
        guard var state = try await begin(pace.limits) else { return true }
        while state.next != nil {
            progress(state.count, state.total)
            let limits = pace.limits
            let part = try await file.readUntilCancelled { [build] db, _ in try build.nextPart(limits, in: db) }
            let after = try await transaction(&pace) { [build] db in
                try part.map { try build.add($0, in: db) } ?? build.state(in: db)
            }
            guard let after else { return try await isThere() }
            state = after
        }
        progress(state.count, state.total)
        while try await addChanged(&pace) == false {}
        guard try await isThere() else { return false }
        try await removeRows()
        progress(state.total, state.total)
        return true
    }

    // MARK: Steps

    /// - Returns: `nil` if the index exists, also if this has created it in one transaction.
    private func begin(_ limits: SQLiteIndexBuild.Limits) async throws -> SQLiteIndexBuild.State? {
        if try await isThere() {
            try await remove()
            return nil
        }
        if let state = try await file.readMany({ [build] in try build.state(in: $0) }) { return state }
        let total = try await file.readMany { [build] db in try build.table.count(in: db) }
        let beginning = Locked(Beginning.hindered)
        while true {
            try await removeRemains()
            try await file.writeUntilCancelled { [self] db in
                let found = try begin(total: total, limits, in: db)
                beginning.withLock { $0 = found }
            }
            switch beginning.withLock({ $0 }) {
            case .begun(let state): return state
            case .complete:
                progress(total, total)
                return nil
            case .hindered: continue
            }
        }
    }

    /// How a creation begins.
    enum Beginning: Equatable, Sendable {
        case begun(SQLiteIndexBuild.State)
        /// The index exists.
        case complete
        /// What remains of a creation has to be removed first.
        case hindered
    }

    /// Begins, or finds where another program is, inside of a transaction.
    func begin(total: Int, _ limits: SQLiteIndexBuild.Limits, in db: Database) throws -> Beginning {
        // Another program may have begun, and also ended, since the last look.
        if try SQLiteIndex.all(of: build.table, in: db).contains(build.index.index) { return .complete }
        if let state = try build.state(in: db) { return .begun(state) }
        if try build.exists(in: db) { return .hindered }
        if let state = try build.begin(total: total, limits, in: db) { return .begun(state) }
        try createWhole(in: db)
        return .complete
    }

    /// - Returns: Whether the index is complete, `nil` if the tables are gone.
    private func addChanged(_ pace: inout Pace) async throws -> Bool? {
        let limits = pace.limits
        let isProtected = Locked(false)
        do {
            return try await transaction(&pace) { [build] db -> Bool? in
                guard try build.state(in: db) != nil else { return nil }
                guard try build.addChanged(limits, in: db) else { return false }
                do {
                    try build.finish(in: db)
                } catch let error as Database.SchemaIsProtected {
                    isProtected.withLock { $0 = true }
                    throw error
                }
                return true
            }
        } catch  where isProtected.withLock({ $0 }) {
            try await createWhole()
            return true
        }
    }

    /// Lets other writers go first, runs a transaction, and measures it.
    private func transaction<Value: Sendable>(
        _ pace: inout Pace, _ body: @escaping @Sendable (Database) throws -> Value?
    ) async throws -> Value? {
        try await Task.sleep(for: pace.pause)
        let outcome = Locked<(value: Value?, time: Duration)>((nil, .zero))
        try await file.writeUntilCancelled { db in
            let start = ContinuousClock.now
            let value = try body(db)
            outcome.withLock { $0 = (value, .now - start) }
        }
        let (value, time) = outcome.withLock { $0 }
        pace.adjust(to: time)
        return value
    }

    private func isThere() async throws -> Bool {
        try await file.readOne { [build] db in
            try SQLiteIndex.all(of: build.table, in: db).contains(build.index.index)
        }
    }

    /// Creates the index in one transaction, for which other writers wait.
    private func createWhole() async throws {
        try await remove()
        try await file.writeUntilCancelled { [self] db in try createWhole(in: db) }
        let count = try await file.readMany { [build] db in try build.table.count(in: db) }
        progress(count, count)
    }

    private func createWhole(in db: Database) throws {
        if try SQLiteIndex.all(of: build.table, in: db).contains(build.index.index) { return }
        // One of another version of this package.
        try db.execute(sql: "DROP INDEX IF EXISTS \(build.index.name)")
        try db.execute(sql: build.index.definition)
    }

    // MARK: Removing

    /// Removes what there is of the creation.
    func remove() async throws {
        guard try await file.readMany({ [build] in try build.exists(in: $0) }) else { return }
        try await file.writeUnreported { [build] db in try build.end(in: db) }
        try await removeRows()
    }

    /// Removes what can't be continued, and not what another program has begun in the meantime.
    private func removeRemains() async throws {
        guard try await file.readMany({ [build] in try build.exists(in: $0) }) else { return }
        try await file.writeUnreported { [build] db in
            if try build.state(in: db) == nil { try build.end(in: db) }
        }
        try await removeRows()
    }

    private func removeRows() async throws {
        guard try await file.readMany({ [build] in try build.exists(in: $0) }) else { return }
        let isDone = Locked(false)
        while !isDone.withLock({ $0 }) {
            let count = pace.limits.rows
            try await file.writeUnreported { [build] db in
                // Another program may have begun.
                let done = try build.state(in: db) != nil || build.removeRows(count: count, in: db)
                isDone.withLock { $0 = done }
            }
            if !isDone.withLock({ $0 }) { await Task.yield() }
        }
    }

    /// Whether another program creates the index, too.
    private func isShared() async throws -> Bool {
        guard let state = try await file.readMany({ [build] in try build.state(in: $0) }) else { return false }
        try await Task.sleep(for: Self.patience)
        let later = try await file.readMany { [build] in try build.state(in: $0) }
        return later != nil && later != state
    }

    /// The caller's task is cancelled, so it could not wait.
    private func removeInOtherTask() async {
        await Task {
            do {
                if try await !isShared() { try await remove() }
            } catch {
                bodegaLogger.notice(
                    "What remains of the creation of an index could not be removed. Create or remove the index.",
                    metadata: ["index": "\(build.index.index)", "error": "\(error)"])
            }
        }.value
    }
}
