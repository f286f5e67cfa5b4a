import Foundation

extension PostgresServer {
    /// Creates a standby of this server, a copy that follows it by streaming replication, and starts it.
    ///
    /// - Parameters:
    ///   - isSynchronous: Whether a commit waits until the standby has flushed it to disk.
    ///   - name: The standby's name.
    /// - Returns: The standby, which is streaming from this server.
    package func addStandby(isSynchronous: Bool, name: String = "standby") async throws -> PostgresServer {
        let standby = try PostgresServer(name: name, programs: programs, settings: settings)
        let source = "host=\(folder.url.path) port=\(port) user=\(Self.user) application_name=\(name)"
        try await standby.run(
            "pg_basebackup",
            [
                "--dbname", source, "--pgdata", standby.folder.data.path, "--wal-method", "stream",
                "--checkpoint", "fast", "--write-recovery-conf", "--no-sync",
            ]
        )
        try await standby.start()
        try await waitUntil("the standby received what the primary writes. \(standby.lastWords)") {
            try await replicationState(of: name).hasPrefix("streaming")
        }
        if isSynchronous {
            try await sql("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
            try await sql("SELECT pg_reload_conf()")
            try await waitUntil("commits waited for the standby") {
                try await replicationState(of: name) == "streaming|sync"
            }
        }
        return standby
    }

    /// Promotes a standby, and waits until it accepts writes.
    package func promote() async throws {
        // A statement that waits holds a snapshot, which can keep the standby from replaying the rest of the log.
        try await sql("SELECT pg_promote(false)")
        try await waitUntil("the standby accepted writes. \(lastWords)") {
            try await sql("SELECT pg_is_in_recovery()") == "f"
        }
    }

    /// Waits until this server, a standby, has replayed all that the other server had written at the time of the call.
    package func waitForReplay(of primary: PostgresServer) async throws {
        let position = try await primary.sql("SELECT pg_current_wal_flush_lsn()")
        try await waitUntil("the standby had replayed \(position)") {
            try await sql("SELECT pg_last_wal_replay_lsn() >= '\(position)'") == "t"
        }
    }

    private func replicationState(of name: String) async throws -> String {
        try await sql("SELECT state, sync_state FROM pg_stat_replication WHERE application_name = '\(name)'")
    }
}
