#if Postgres
import Bodega
import Foundation

/// What tells where a database is: the server with its timeline, the database and its tables. A copy has another place,
/// be it restored on another server or in the place of the original, and so has a standby that became a primary.
///
/// Numbers of transactions only compare in one place. So the log belongs to one: when a database is found in another,
/// its log begins anew, unless only the timeline is another, on which the numbers go on.
struct DatabasePlace: Sendable {

    /// Whether the server tells its own identifier, which its administrator can forbid.
    let knowsServer: Bool

    /// The place in SQL; the timeline, of 8 digits, is at its end.
    var sql: String {
        let server = knowsServer ? "(SELECT system_identifier FROM pg_control_system())::text" : "''"
        return """
            (
                \(server) || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
                    || '/' || 'emporium_changes'::regclass::oid
                    || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
            )
            """
    }

    private static let timelineLength = 8

    /// Asks the server what it tells.
    static func find(in session: Session, patience: TimeInterval) async throws -> DatabasePlace {
        let statement = Statement("SELECT has_function_privilege('pg_control_system()', 'EXECUTE')")
        return DatabasePlace(knowsServer: try await session.run(Command(statement), patience: patience).flag(0, 0))
    }

    /// Begins a history if the database is not where it was. Two standbys that both became primaries get the same
    /// number for their timelines, but each begins a history of its own.
    func settle(_ session: Session, patience: TimeInterval) async throws {
        let begin = [
            Command(Statement("BEGIN ISOLATION LEVEL READ COMMITTED")), Command(ChangeStatements.lockHistory),
            Command(ChangeStatements.places(self)),
        ]
        let answers = try await session.run(begin, patience: patience)
        try answers.requireAll(begin.count)
        let here = try answers[2].text(0, 0)
        let last = answers[2].bytes(0, 1).map { String(decoding: $0, as: UTF8.self) }
        var commands: [Command] = []
        if here != last {
            var parameters = Parameters()
            parameters.append(here.utf8)
            commands = [Command(ChangeStatements.beginHistory), Command(ChangeStatements.notePlace, parameters)]
            if let last, here.dropLast(Self.timelineLength) != last.dropLast(Self.timelineLength) {
                commands += [Command(ChangeStatements.emptyLog), Command(ChangeStatements.beginLog)]
            }
        }
        _ = try await session.run(commands + [Command(Statement("COMMIT"))], patience: patience)
    }
}
#endif
