#if Postgres
import Foundation
import TestSupport

/// A server of a cluster with its Patroni, and the proxies for all its connections with others.
actor Member {
    nonisolated let name: String
    nonisolated let ports: Ports
    /// The proxies to this server, and the proxy from this server to etcd.
    nonisolated let proxies: Proxies
    private nonisolated let keeper: Keeper
    private nonisolated let folder: URL
    private var patroni: Daemon?

    struct Ports: Sendable {
        let server: Int
        let api: Int
    }

    struct Proxies: Sendable {
        let clients: FaultyProxy
        let replication: FaultyProxy
        let api: FaultyProxy
        let etcd: FaultyProxy

        var all: [FaultyProxy] { [clients, replication, api, etcd] }
    }

    init(_ number: Int, etcd: Int, keeper: Keeper) throws {
        name = "member\(number)"
        self.keeper = keeper
        ports = Ports(server: try freePort(), api: try freePort())
        proxies = Proxies(
            clients: try FaultyProxy(to: ports.server), replication: try FaultyProxy(to: ports.server),
            api: try FaultyProxy(to: ports.api), etcd: try FaultyProxy(to: etcd))
        folder = keeper.folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try keeper.account.own(folder)
    }

    /// Starts Patroni, which starts the server.
    func start() throws {
        let file = folder.appendingPathComponent("patroni.json")
        try configuration().write(to: file)
        patroni = try keeper.start(name, "/usr/bin/patroni", [file.path])
    }

    nonisolated var data: URL { folder.appendingPathComponent("data") }

    /// All processes of the server and Patroni's.
    func processes() throws -> [Int32] {
        try (patroni.map { [$0.identifier] } ?? []) + serverProcesses()
    }

    /// The processes of the server, the main one first.
    nonisolated func serverProcesses() throws -> [Int32] {
        let note = data.appendingPathComponent("postmaster.pid")
        guard FileManager.default.fileExists(atPath: note.path),
            let first = try String(contentsOf: note, encoding: .utf8).split(separator: "\n").first,
            let main = Int32(first), try ProcessTable.isRunning(main)
        else { return [] }
        return try [main] + ProcessTable.children(of: main)
    }

    /// Kills the server's processes. Patroni notices that.
    nonisolated func killServer() throws {
        let processes = try serverProcesses()
        // Stop them first, so that none is added while they are killed.
        if let main = processes.first { ProcessSignal.stop.send(to: main) }
        for process in try serverProcesses() { ProcessSignal.kill.send(to: process) }
    }

    /// Kills all processes, as if the machine had failed.
    func kill() async throws {
        try await patroni?.kill()
        patroni = nil
        let processes = try serverProcesses()
        try killServer()
        try await waitUntil("the server was gone") {
            try processes.allSatisfy { try !ProcessTable.isRunning($0) }
        }
    }

    var isRunning: Bool { patroni?.isRunning ?? false }

    var lastWords: String { patroni?.lastWords ?? "It was killed." }

    /// Executes SQL on this server, bypassing all proxies.
    nonisolated func sql(_ text: String, programs: PostgresPrograms) async throws -> String {
        let options = [
            "5", programs.program("psql").path, "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--host",
            folder.path, "--port", "\(ports.server)", "--username", PostgresServer.user, "--dbname", "postgres",
        ]
        let command = keeper.account.command(URL(fileURLWithPath: "/usr/bin/timeout"), options, in: keeper.folder)
        return try await command.run(input: text).checked().text.trimmingCharacters(in: .newlines)
    }

    private nonisolated func configuration() throws -> Data {
        let secret = PostgresServer.password
        let programs = try PostgresPrograms.find()
        let everyone: [String: Any] = [
            // A lease as short as Patroni's pace allows, so that a failover takes seconds.
            "ttl": 12, "loop_wait": 2, "retry_timeout": 4, "maximum_lag_on_failover": 100 << 20,
            "master_start_timeout": 0, "synchronous_mode": true, "synchronous_mode_strict": true,
            "postgresql": [
                "use_pg_rewind": true, "use_slots": true,
                "parameters": [
                    "max_connections": 150, "shared_buffers": "32MB", "wal_keep_size": "256MB", "wal_log_hints": "on",
                    "dynamic_shared_memory_type": "mmap", "wal_sender_timeout": "5s", "wal_receiver_timeout": "5s",
                    "log_line_prefix": "%m [%p] ",
                ],
            ],
        ]
        let user = ["username": PostgresServer.user, "password": secret]
        let configuration: [String: Any] = [
            "scope": "chaos", "name": name,
            "restapi": [
                "listen": "127.0.0.1:\(ports.api)", "connect_address": "127.0.0.1:\(proxies.api.port)",
            ],
            // Uses version 2 of etcd's API. With version 3, Patroni 3.0 overwrites the name of the new leader when it
            // resumes after a stop, and acknowledged writes of the new leader are lost. The proxies replace the
            // addresses that etcd itself would report, which bypass the proxy.
            "etcd": ["hosts": ["127.0.0.1:\(proxies.etcd.port)"], "use_proxies": true],
            "bootstrap": [
                "dcs": everyone,
                "initdb": [["encoding": "UTF8"], ["locale": "C"], "data-checksums"],
                "pg_hba": [
                    "local all all trust", "local replication all trust",
                    "host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256",
                ],
            ],
            "postgresql": [
                "listen": "127.0.0.1:\(ports.server)", "connect_address": "127.0.0.1:\(proxies.replication.port)",
                "data_dir": data.path, "bin_dir": programs.folder.path,
                "pgpass": folder.appendingPathComponent("pgpass").path,
                "use_unix_socket": true,
                // Without this, the copy waits for a checkpoint that the primary spreads over minutes.
                "basebackup": ["checkpoint": "fast"],
                "parameters": ["unix_socket_directories": folder.path],
                "authentication": ["superuser": user, "replication": user, "rewind": user],
                "remove_data_directory_on_rewind_failure": true,
                "remove_data_directory_on_diverged_timelines": true,
            ],
        ]
        return try JSONSerialization.data(withJSONObject: configuration, options: [.prettyPrinted, .sortedKeys])
    }
}
#endif
