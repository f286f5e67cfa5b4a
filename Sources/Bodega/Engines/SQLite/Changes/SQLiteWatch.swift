import Foundation
import GRDB
import Logging

/// Signals to those who follow collections of a file that there may be changes, whoever has made them.
///
/// What is committed through the same ``SQLiteFile`` is signalled by it. For the rest the file is watched, as long as
/// somebody listens. When something has happened to it, SQLite is asked whether others have committed, and each followed
/// log how far it reaches; only if that is news, there is a signal.
final class SQLiteWatch: Sendable {

    private struct Followed: Sendable {
        let log: SQLiteChangeLog
        let signals: ChangeSignals
        /// How far the log reached when it was last signalled.
        var end: SQLiteLogPosition?
    }

    private struct State: Sendable {
        weak var file: SQLiteFile?
        /// By the names of the collections' tables.
        var followed: [String: Followed] = [:]
        var fileWatch: FileWatch?
        var isClosed = false
        var surroundings = FileWatch.Surroundings()

        var isHeard: Bool { !isClosed && followed.values.contains { $0.signals.areHeard } }
    }

    private let state = Locked(State())
    private let versions = SQLiteDataVersions()

    deinit {
        state.withLock { $0.fileWatch }?.cancel()
    }

    /// Says which file it is. It is not kept.
    ///
    /// - Parameter surroundings: What tells of changes to the file, and of time.
    func begin(on file: SQLiteFile, in surroundings: FileWatch.Surroundings = FileWatch.Surroundings()) {
        state.withLock { state in
            state.file = file
            state.surroundings = surroundings
        }
    }

    /// A stream of a signal at once, and of those to come.
    ///
    /// - Parameter origin: Who makes the changes that need not be told.
    func signals(for table: SQLiteTable, excluding origin: StorageOrigin? = nil) -> AsyncStream<Void> {
        let signals = state.withLock { state in
            if let followed = state.followed[table.name] { return followed.signals }
            let signals = ChangeSignals(silenced: { [weak self] in self?.watchIfHeard() })
            state.followed[table.name] = Followed(log: table.log, signals: signals)
            if state.isClosed { signals.finish() }
            return signals
        }
        let stream = signals.stream(excluding: origin)
        watchIfHeard()
        return stream
    }

    /// Notes a commit to a table through the same file.
    ///
    /// - Parameter span: From where to where in the table's log it reaches, if that is known.
    func committed(_ table: SQLiteTable, _ span: SQLiteSignature.Span?) {
        let (signals, author) = state.withLock { state -> (ChangeSignals?, StorageOrigin?) in
            guard let followed = state.followed[table.name] else { return (nil, nil) }
            guard let span else { return (followed.signals, nil) }
            state.followed[table.name]?.end = span.after
            // All before it has been signalled to everybody.
            return (followed.signals, followed.end == span.before ? span.author : nil)
        }
        signals?.send(changeBy: author)
    }

    /// Ends all streams.
    func close() {
        let (followed, fileWatch) = state.withLock { state in
            defer { state.fileWatch = nil }
            state.isClosed = true
            return (state.followed, state.fileWatch)
        }
        fileWatch?.cancel()
        for one in followed.values { one.signals.finish() }
    }

    private enum Step {
        case begin(SQLiteFile, FileWatch.Surroundings)
        case end(FileWatch)
        case nothing
    }

    /// Watches the file as long as somebody listens. The system is asked for that without the lock, which commits take.
    private func watchIfHeard() {
        while true {
            let step = state.withLock { state -> Step in
                let isHeard = state.isHeard
                if isHeard, state.fileWatch == nil, let file = state.file { return .begin(file, state.surroundings) }
                guard !isHeard, let fileWatch = state.fileWatch else { return .nothing }
                state.fileWatch = nil
                return .end(fileWatch)
            }
            switch step {
            case .nothing: return
            case .end(let fileWatch): fileWatch.cancel()
            case .begin(let file, let surroundings):
                let fileWatch = FileWatch(
                    of: file.url.path,
                    suffixes: ["", "-wal", "-journal"],
                    in: surroundings
                ) { [weak self] in self?.check() }
                // Somebody else may have been faster, or all may have gone.
                let isWanted = state.withLock { state in
                    guard state.isHeard, state.fileWatch == nil else { return false }
                    state.fileWatch = fileWatch
                    return true
                }
                if !isWanted { fileWatch.cancel() }
            }
        }
    }

    /// Signals if there is news.
    private func check() {
        guard let file = state.withLock({ $0.file }) else { return }
        do {
            let ends = try file.readOneHere { db -> [String: SQLiteLogPosition?]? in
                try SQLiteFile.checkPlace(in: db)
                guard try versions.haveChanged(in: db) else { return nil }
                // Only now: who begins to listen after this reads what has changed before.
                return try heard().mapValues { try $0.log.endIfThere(in: db) }
            }
            for (table, end) in ends ?? [:] { found(end, of: table) }
        } catch {
            // Who follows finds out by himself what it is, and tells.
            bodegaLogger.debug(
                "A file that is followed could not be read.",
                metadata: ["file": "\(file.url.path)", "error": "\(error)"]
            )
            for one in heard().values { one.signals.send() }
        }
    }

    private func heard() -> [String: Followed] {
        state.withLock { $0.followed.filter { $0.value.signals.areHeard } }
    }

    /// Signals if a log reaches elsewhere than before. If there is no log, any commit may be news.
    private func found(_ end: SQLiteLogPosition?, of table: String) {
        let signals = state.withLock { state -> ChangeSignals? in
            guard let followed = state.followed[table], end == nil || followed.end != end else { return nil }
            state.followed[table]?.end = end
            return followed.signals
        }
        signals?.send()
    }
}

/// Whether others have committed to a file, as each connection to it knows.
final class SQLiteDataVersions: Sendable {

    private struct Version {
        weak var connection: Database?
        var number: Int
    }

    private let versions = Locked<[Version]>([])

    /// Whether others have committed since this was last asked on the same connection.
    func haveChanged(in db: Database) throws -> Bool {
        let statement = try SQLiteStatement("PRAGMA data_version", in: db)
        defer { statement.reset() }
        let number = try statement.step() ? statement.integer(at: 0) ?? 0 : 0
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
