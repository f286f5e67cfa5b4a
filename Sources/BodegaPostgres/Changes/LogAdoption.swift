#if Postgres
import Bodega
import Foundation

/// Detects a log of changes that was written in another database, and adopts it.
///
/// A database copied or loaded from a dump has the log of the original, with transaction numbers of another server. The
/// first user with the right to write begins a new history and assigns the rows a transaction of this server.
enum LogAdoption {

    /// Begins a new history if the log was written in another database.
    ///
    /// - Throws: A ``PostgresFailure`` with ``PostgresFailure/forbidsWriting`` if the log can't be adopted.
    static func adoptIfNeeded(_ session: Session) async throws {
        if try await session.run(Command(ChangeStatements.checkHome)).flag(0, 0) { return }
        let begin = [.begin, Command(ChangeStatements.lockHistory), Command(ChangeStatements.checkHome)]
        let answers = try await session.run(begin)
        // The adoption updates all rows, possibly millions.
        let count: Int64 = try await session.run(Command(ChangeStatements.countLog)).number(0, 0)
        let changes =
            try answers[2].flag(0, 0)
            ? []
            : [
                ChangeStatements.beginHistory, ChangeStatements.noteHome, ChangeStatements.adoptLog,
                ChangeStatements.beginLog,
            ]
        _ = try await session.run(
            changes.map { Command($0) } + [.commit], patience: session.patience + TimeInterval(count) / 1000)
    }
}
#endif
