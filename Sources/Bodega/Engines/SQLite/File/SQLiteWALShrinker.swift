import Dispatch
import Foundation
import GRDB
import Logging

/// Keeps the write-ahead log of a file small.
///
/// After each 1,000 pages, SQLite copies the log's pages into the file, but it starts the log over only while no reader
/// uses it. Where reads always overlap, or one takes long, the log would grow without a limit, and stay as it is.
///
/// 1. After a group of commits, the writing connection calls ``committed()``. If the log is larger than `limit`, an
///    attempt begins on another thread, unless one has failed and the log has not grown by `limit` since then, or since
///    SQLite has started it over.
/// 2. The attempt keeps new readers waiting until the others have left, but no longer than its patience.
/// 3. Then it truncates the log on the writing connection, if that one is free in time. Readers of other processes can
///    prevent that.
/// 4. If readers did not leave in time, the last one to leave begins the next attempt by ``readersLeft()``. In
///    addition, each attempt that fails doubles the patience of the next one, up to 1.6 seconds.
///
/// A reader waits only while the readers before it read, or for the patience. A writer waits while the rest of the log
/// is copied, and at most 20 milliseconds for readers of other processes.
///
/// `state` is guarded by its lock, which is never held during an attempt.
final class SQLiteWALShrinker: Sendable {

    /// The size of a log, in bytes, from which on it is truncated: four times the size at which SQLite copies its
    /// pages.
    static let limit = 16 << 20

    private struct State: Sendable {
        weak var core: SQLiteFile?
        /// Whether an attempt waits until all readers have left.
        var awaitsReaders = false
        var isRunning = false
        /// The size of the log at which the next attempt begins.
        var next = SQLiteWALShrinker.limit
        var failures = 0
    }

    private let state = Locked(State())

    /// Sets the file of the log, which is referenced weakly.
    func begin(on core: SQLiteFile) {
        state.withLock { $0.core = core }
    }

    /// Notes that something was committed.
    func committed() {
        guard let size = state.withLock({ $0.core })?.logSize, size >= Self.limit else { return }
        start { state in
            // Smaller than after the last attempt: SQLite has started the log over.
            state.next = min(state.next, size + Self.limit)
            return size >= state.next
        }
    }

    /// Notes that no reader reads any more.
    func readersLeft() {
        start { $0.awaitsReaders }
    }

    private func start(if isDue: (inout State) -> Bool) {
        let core = state.withLock { state -> SQLiteFile? in
            guard !state.isRunning, let core = state.core, isDue(&state) else { return nil }
            (state.isRunning, state.awaitsReaders) = (true, false)
            return core
        }
        core?.later { [weak core] in if let core { self.attempt(on: core) } else { self.end(.done, size: 0) } }
    }

    private enum Outcome { case done, hasReaders, failed }

    private func attempt(on core: SQLiteFile) {
        let patience = DispatchTimeInterval.milliseconds(100 << min(state.withLock(\.failures), 4))
        let isTruncated = core.readers.tryWhileEmpty(within: patience) { core.truncateLog() }
        end(isTruncated.map { $0 ? .done : .failed } ?? .hasReaders, size: core.logSize)
    }

    private func end(_ outcome: Outcome, size: Int) {
        state.withLock { state in
            state.isRunning = false
            state.awaitsReaders = outcome == .hasReaders
            state.failures = outcome == .done ? 0 : state.failures + 1
            state.next = outcome == .done ? Self.limit : size + Self.limit
        }
    }
}

extension SQLiteFile {

    /// The size of the write-ahead log in bytes, 0 if there is none.
    fileprivate var logSize: Int {
        var status = stat()
        guard let path = openedPlace?.resolved, stat(path + "-wal", &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Truncates the write-ahead log, unless the writing connection is in use for more than 100 milliseconds, or
    /// another process reads or writes for more than 20.
    ///
    /// - Returns: Whether the log is truncated.
    fileprivate func truncateLog() -> Bool {
        enum Progress { case waiting, running, over(Bool), cancelled }
        let progress = Locked(Progress.waiting)
        guard let writer = openedWriter else { return false }
        let done = ThreadSemaphore(value: 0)
        writer.asyncWriteWithoutTransaction { [self] db in
            let begins = progress.withLock { progress in
                guard case .waiting = progress else { return false }
                progress = .running
                return true
            }
            guard begins else { return }
            let isTruncated = truncateLog(in: db)
            progress.withLock { $0 = .over(isTruncated) }
            done.signal()
        }
        if done.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            let isCancelled = progress.withLock { progress in
                guard case .waiting = progress else { return false }
                progress = .cancelled
                return true
            }
            if isCancelled { return false }
            done.wait()
        }
        return progress.withLock { if case .over(let isTruncated) = $0 { isTruncated } else { false } }
    }

    private func truncateLog(in db: Database) -> Bool {
        do {
            try db.withLockTimeout(0.02, then: lockTimeout) { _ = try db.checkpoint(.truncate) }
            return true
        } catch let error as DatabaseError where error.isOfLock || error.resultCode == .SQLITE_INTERRUPT {
            bodegaLogger.debug(
                "The write-ahead log shrinks later: another process uses it, or the storage is suspended.",
                metadata: ["file": "\(url.path)"])
        } catch {
            bodegaLogger.notice(
                "The write-ahead log could not be truncated. It is truncated later, or when the file is closed.",
                metadata: ["file": "\(url.path)", "error": "\(error)"])
        }
        return false
    }
}
