import Foundation
import GRDB
import Logging

/// Signals to followers of a file's collections that there may be changes of any writer.
///
/// 1. A follower asks for signals of a collection. The first one starts a ``FileWatch``, which calls ``check()`` when
///    the file may have changed.
/// 2. A commit through the same ``SQLiteFile`` signals directly. If all changes before it have been signaled,
///    followers that exclude its origin get no signal.
/// 3. ``check()`` asks SQLite whether other connections have committed. If so, it reads the end of each followed log,
///    and signals if the log has grown since its last signal.
///    A follower of a collection that does not exist is signaled in steps 2 and 3 by every commit.
/// 4. When the last follower is gone, the file watch is cancelled.
///
/// `state` guards the followed collections, the ends of their logs and the file watch. Commits wait for its lock, so
/// the lock is never held during a read, a signal or a call of the file watch. Step 2 runs on the writing connection,
/// step 3 on the queue of the file watch, steps 1 and 4 on any thread.
final class SQLiteWatch: Sendable {

    private struct Followed: Sendable {
        /// `nil` if there is no collection.
        let log: SQLiteLog?
        let signals: ChangeSignals
        /// The end of the log when it was last signaled.
        var end: StorageCursor?
    }

    private struct State: Sendable {
        weak var core: SQLiteFile?
        /// By the names of the collections' tables, and for missing collections by the empty name.
        var followed: [String: Followed] = [:]
        var fileWatch: FileWatch?
        var isClosed = false
        var surroundings = FileWatch.Surroundings()

        var hasFollowers: Bool { !isClosed && followed.values.contains { $0.signals.areHeard } }
    }

    /// The name under which followers of missing collections are.
    private static let missing = ""

    private let state = Locked(State())
    private let versions = SQLiteDataVersions()

    deinit {
        state.withLock { $0.fileWatch }?.cancel()
    }

    /// Sets the file to watch, which is referenced weakly.
    ///
    /// - Parameters:
    ///   - core: The file.
    ///   - surroundings: The sources of file events and of time.
    func begin(on core: SQLiteFile, in surroundings: FileWatch.Surroundings = FileWatch.Surroundings()) {
        state.withLock { state in
            state.core = core
            state.surroundings = surroundings
        }
    }

    /// A stream that begins with a signal.
    ///
    /// - Parameters:
    ///   - table: The collection's table; `nil` if it does not exist, so that any commit may create it.
    ///   - origin: The origin whose own changes need no signal.
    func signals(for table: SQLiteTable?, excluding origin: StorageOrigin? = nil) -> AsyncStream<Void> {
        let name = table?.name ?? Self.missing
        // The stream is created before the lock is released, so that its signals are not removed as unheard ones.
        let stream = state.withLock { state in
            if let followed = state.followed[name] { return followed.signals.stream(excluding: origin) }
            let signals = ChangeSignals(silenced: { [weak self] in self?.removeUnheard() })
            state.followed[name] = Followed(log: table?.log, signals: signals)
            if state.isClosed { signals.finish() }
            return signals.stream(excluding: origin)
        }
        updateFileWatch()
        return stream
    }

    private func removeUnheard() {
        // Released after the lock.
        let unheard = state.withLock { state in
            let unheard = state.followed.filter { !$0.value.signals.areHeard }
            for name in unheard.keys { state.followed[name] = nil }
            return unheard
        }
        withExtendedLifetime(unheard) {}
        updateFileWatch()
    }

    /// The number of collections that are followed.
    var followedCount: Int { state.withLock { $0.followed.count } }

    /// Signals a commit to a table through the same file.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - commit: The place of the commit in the log, `nil` if there is no log.
    ///   - origin: The origin of the changes.
    func committed(_ table: SQLiteTable, _ commit: StorageCommit?, by origin: StorageOrigin) {
        let (signals, origin, missing) = state.withLock { state -> (ChangeSignals?, StorageOrigin?, ChangeSignals?) in
            let missing = state.followed[Self.missing]?.signals
            guard let followed = state.followed[table.name] else { return (nil, nil, missing) }
            guard let commit else { return (followed.signals, nil, missing) }
            state.followed[table.name]?.end = commit.after
            // If all changes before the commit have been signaled, only its own origin is new.
            return (followed.signals, followed.end == commit.before ? origin : nil, missing)
        }
        signals?.send(changeBy: origin)
        missing?.send()
    }

    /// Ends all streams.
    func close() {
        let (followed, fileWatch) = state.withLock { state in
            defer { state.fileWatch = nil }
            state.isClosed = true
            return (state.followed, state.fileWatch)
        }
        fileWatch?.cancel()
        for collection in followed.values { collection.signals.finish() }
    }

    private enum Step {
        case begin(SQLiteFile, FileWatch.Surroundings)
        case end(FileWatch)
        case nothing
    }

    /// Starts or cancels the file watch, so that it runs while there are followers.
    private func updateFileWatch() {
        while true {
            let step = state.withLock { state -> Step in
                let hasFollowers = state.hasFollowers
                if hasFollowers, state.fileWatch == nil, let core = state.core {
                    return .begin(core, state.surroundings)
                }
                guard !hasFollowers, let fileWatch = state.fileWatch else { return .nothing }
                state.fileWatch = nil
                return .end(fileWatch)
            }
            switch step {
            case .nothing: return
            case .end(let fileWatch): fileWatch.cancel()
            case .begin(let core, let surroundings):
                let fileWatch = FileWatch(
                    of: core.url.path,
                    suffixes: ["", "-wal", "-journal"],
                    in: surroundings
                ) { [weak self] in self?.check() }
                // Another thread may have started one, or the followers may be gone.
                let isWanted = state.withLock { state in
                    guard state.hasFollowers, state.fileWatch == nil else { return false }
                    state.fileWatch = fileWatch
                    return true
                }
                if !isWanted { fileWatch.cancel() }
            }
        }
    }

    /// Whether a collection is followed.
    var hasFollowers: Bool { state.withLock { $0.hasFollowers } }

    /// Signals commits of other connections.
    ///
    /// - Parameter reopens: Whether to open the file, after a suspension. Otherwise only an operation opens a file that
    ///   could not be opened: this may be called while another program restores it.
    func check(reopening reopens: Bool = false) {
        guard let core = state.withLock({ $0.core }), core.isOpen || reopens, !LockHolders.shared.areSuspended
        else { return }
        do {
            let ends = try core.blockingReadOne { db -> [String: StorageCursor?]? in
                try core.checkPlace()
                guard try versions.haveChanged(in: db) else { return nil }
                // Only now: a follower that comes later reads earlier changes by itself.
                return try collectionsWithFollowers().mapValues { try $0.log?.endIfThere(in: db)?.cursor }
            }
            guard let ends else { return }
            for (table, end) in ends where end != nil { found(end, of: table) }
            let tablesWithoutLog = ends.filter { $0.value == nil }.keys
            if tablesWithoutLog.isEmpty { return }
            let unchanged = try core.tablesUnchangedSinceStart()
            for table in tablesWithoutLog where !unchanged.contains(table) { found(nil, of: table) }
        } catch {
            // The followers read the file themselves and report the error.
            bodegaLogger.debug(
                "A followed file could not be read.",
                metadata: ["file": "\(core.url.path)", "error": "\(error)"]
            )
            for followed in collectionsWithFollowers().values { followed.signals.send() }
        }
    }

    private func collectionsWithFollowers() -> [String: Followed] {
        state.withLock { $0.followed.filter { $0.value.signals.areHeard } }
    }

    /// Signals if a log has another end than before. Without a log, any commit may have changed it.
    private func found(_ end: StorageCursor?, of table: String) {
        let signals = state.withLock { state -> ChangeSignals? in
            guard let followed = state.followed[table], end == nil || followed.end != end else { return nil }
            state.followed[table]?.end = end
            return followed.signals
        }
        signals?.send()
    }
}

/// The versions of a file's data, as each connection knows them, which change when another connection commits.
final class SQLiteDataVersions: Sendable {

    private struct Version {
        weak var connection: Database?
        var number: Int
    }

    private let versions = Locked<[Version]>([])

    /// Whether other connections have committed since the last call with the same connection.
    func haveChanged(in db: Database) throws -> Bool {
        let number = try SQLiteStatement.integer("PRAGMA data_version", in: db) ?? 0
        return versions.withLock { versions in
            versions.removeAll { $0.connection == nil }
            guard let index = versions.firstIndex(where: { $0.connection === db }) else {
                versions.append(Version(connection: db, number: number))
                return true
            }
            defer { versions[index].number = number }
            return versions[index].number != number
        }
    }
}
