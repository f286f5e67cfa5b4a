#if Postgres
import Bodega
import Foundation

/// Makes sure that the numbers of transactions in the log of changes are this server's.
///
/// A database that was copied, or loaded from a dump, has the log of the original with the numbers of another server. Its
/// first user with the right to write begins a new history and gives the log's rows numbers of this server.
enum LogHome {

    /// Begins a new history if the log was written in another database.
    ///
    /// - Throws: A ``PostgresFailure`` of code 42501 or 25006 if that is needed and the user or the server can't write.
    static func settle(_ session: Session, patience: TimeInterval) async throws {
        if try await session.run(Command(ChangeStatements.checkHome), patience: patience).flag(0, 0) { return }
        let begin = [
            Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED")), Command(ChangeStatements.lockHistory),
            Command(ChangeStatements.checkHome),
        ]
        let answers = try await session.run(begin, patience: patience)
        try answers.requireAll(begin.count)
        let changes =
            try answers[2].flag(0, 0)
            ? []
            : [
                ChangeStatements.beginHistory, ChangeStatements.noteHome, ChangeStatements.adoptLog,
                ChangeStatements.beginLog,
            ]
        _ = try await session.run(
            (changes + [Statement("COMMIT")]).map { Command($0) }, patience: patience)
    }
}
#endif
