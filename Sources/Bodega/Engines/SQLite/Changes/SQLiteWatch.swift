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
        var makeEvents = FileEventsOfSystem.make
    }

    private let state = Locked(State())
    private let versions = SQLiteDataVersions()

    deinit {
        state.withLock { $0.fileWatch }?.cancel()
    }

    /// Says which file it is. It is not kept.
    ///
    /// - Parameter makeEvents: Makes what tells of changes to the file.
    func begin(on file: SQLiteFile, _ makeEvents: @escaping FileWatch.MakeEvents = FileEventsOfSystem.make) {
        state.withLock { state in
            state.file = file
            state.makeEvents = makeEvents
        }
    }

    /// A stream of a signal at once, and of those to come.
    func signals(for table: SQLiteTable) -> AsyncStream<Void> {
        let signals = state.withLock { state in
            if let followed = state.followed[table.name] { return followed.signals }
            let signals = ChangeSignals(silenced: { [weak self] in self?.watchIfHeard() })
            state.followed[table.name] = Followed(log: SQLiteChangeLog(of: table), signals: signals)
            if state.isClosed { signals.finish() }
            return signals
        }
        let stream = signals.stream()
        watchIfHeard()
        return stream
    }

    /// Notes a commit to a table through the same file.
    ///
    /// - Parameter end: The end of the table's log behind it, if that is known.
    func committed(_ table: SQLiteTable, end: SQLiteLogPosition?) {
        let signals = state.withLock { state -> ChangeSignals? in
            guard let followed = state.followed[table.name] else { return nil }
            if let end { state.followed[table.name]?.end = end }
            return followed.signals
        }
        signals?.send()
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

    /// Watches the file as long as somebody listens.
    private func watchIfHeard() {
        state.withLock { state in
            let isHeard = !state.isClosed && state.followed.values.contains { $0.signals.areHeard }
            if isHeard, state.fileWatch == nil, let file = state.file {
                state.fileWatch = FileWatch(
                    of: file.url.path,
                    suffixes: ["", "-wal", "-journal"],
                    makeEvents: state.makeEvents
                ) { [weak self] in self?.check() }
            } else if !isHeard, let fileWatch = state.fileWatch {
                fileWatch.cancel()
                state.fileWatch = nil
            }
        }
    }

    /// Signals if there is news.
    private func check() {
        let (file, heard) = state.withLock { state in
            (state.file, state.followed.filter { $0.value.signals.areHeard })
        }
        guard let file, !heard.isEmpty else { return }
        do {
            let ends = try file.readOneHere { [versions] db -> [String: SQLiteLogPosition?]? in
                try SQLiteFile.checkPlace(in: db)
                guard try versions.haveChanged(in: db) else { return nil }
                return try heard.mapValues { try $0.log.endIfThere(in: db) }
            }
            for (table, end) in ends ?? [:] { found(end, of: table) }
        } catch {
            // Who follows finds out by himself what it is, and tells.
            bodegaLogger.debug(
                "A file that is followed could not be read.",
                metadata: ["file": "\(file.url.path)", "error": "\(error)"]
            )
            for one in heard.values { one.signals.send() }
        }
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
