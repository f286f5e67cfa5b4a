import Foundation
import GRDB
import GRDBSQLite

extension Database {

    /// Sets how long the connection waits for locks that other programs hold.
    ///
    /// It waits as `sqlite3_busy_timeout` does, but a thread of ``WorkerThreads`` that waits lets another one run.
    ///
    /// - Parameter seconds: The time; zero to wait for no lock.
    func setLockTimeout(_ seconds: TimeInterval) {
        guard let sqliteConnection else { return }
        // The handler's argument is the number itself, not a pointer to something.
        guard let limit = UnsafeMutableRawPointer(bitPattern: Int(seconds * 1000)) else {
            sqlite3_busy_handler(sqliteConnection, nil, nil)
            return
        }
        sqlite3_busy_handler(
            sqliteConnection,
            { limit, tries in SQLiteLockWait.wait(number: Int(tries), limit: Int(bitPattern: limit)) ? 1 : 0 }, limit)
    }

    /// Runs a closure with another limit for waiting for locks.
    ///
    /// - Parameters:
    ///   - seconds: The limit while the closure runs.
    ///   - usual: The limit afterwards.
    func withLockTimeout<Result>(
        _ seconds: TimeInterval, then usual: TimeInterval, _ body: () throws -> Result
    ) rethrows -> Result {
        setLockTimeout(seconds)
        defer { setLockTimeout(usual) }
        return try body()
    }
}

extension DatabaseQueue {

    /// The form of `writeWithoutTransaction` for ``WorkerThreads``: a thread that waits for another one, which may wait
    /// for a lock, lets another one run.
    func writeOnWorker<Result>(_ body: (Database) throws -> Result) rethrows -> Result {
        let waiting = WorkerThreads.Waiting()
        defer { waiting.end() }
        return try writeWithoutTransaction { db in
            waiting.end()
            return try body(db)
        }
    }
}

/// The pauses between attempts to get a lock.
private enum SQLiteLockWait {

    /// In milliseconds, as in SQLite's `sqliteDefaultBusyCallback`.
    private static let pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50]
    private static let longestPause = 100

    /// Waits before the next attempt.
    ///
    /// - Parameters:
    ///   - number: The number of pauses before.
    ///   - limit: The time of all pauses in milliseconds.
    /// - Returns: `false` if the time is over, or if a suspension has begun.
    static func wait(number: Int, limit: Int) -> Bool {
        let past = pauses.prefix(number).reduce(0, +) + max(number - pauses.count, 0) * longestPause
        let pause = min(number < pauses.count ? pauses[number] : longestPause, limit - past)
        if pause <= 0 { return false }
        WorkerThreads.waiting { LockHolders.shared.pause(Double(pause) / 1000) }
        return !LockHolders.shared.areSuspended
    }
}
