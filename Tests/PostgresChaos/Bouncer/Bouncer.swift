#if Postgres
import Foundation
import TestSupport

/// A PgBouncer in front of a server.
struct Bouncer {
    /// The moment at which a connection to the server returns to the pool.
    enum Mode: String, CaseIterable {
        case session
        case transaction
        case statement
    }

    let url: @Sendable (String) -> String
    private let daemon: Daemon

    /// Starts a pooler and waits until it responds.
    ///
    /// - Parameter size: The number of connections to the server.
    init(_ mode: Mode, size: Int = 60, to server: PostgresServer, keeper: Keeper) async throws {
        let port = try freePort()
        let users = keeper.folder.appendingPathComponent("users")
        try Data("\"\(PostgresServer.user)\" \"\(PostgresServer.password)\"\n".utf8).write(to: users)
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = scram-sha-256
            auth_file = \(users.path)
            pool_mode = \(mode.rawValue)
            max_client_conn = 300
            default_pool_size = \(size)
            ignore_startup_parameters = extra_float_digits

            """
        let file = keeper.folder.appendingPathComponent("pgbouncer-\(mode.rawValue)-\(size).ini")
        try Data(settings.utf8).write(to: file)
        let daemon = try keeper.start("pgbouncer-\(mode.rawValue)-\(size)", "/usr/sbin/pgbouncer", [file.path])
        self.daemon = daemon
        url = { database in
            server.url(database: database).replacingOccurrences(of: ":\(server.port)/", with: ":\(port)/")
        }
        let url = url
        try await waitUntil("pgbouncer responded") {
            guard daemon.isRunning else { throw PostgresServerError("pgbouncer is not running. \(daemon.lastWords)") }
            do {
                return try await server.sql("SELECT 1", connecting: url(PostgresServer.user)) == "1"
            } catch {
                return false
            }
        }
    }

    func end() async throws {
        try await daemon.kill()
    }
}
#endif
