package import Foundation

/// A real PostgreSQL server for tests: new, empty, and on a free port of the loopback interface. It is stopped and its
/// files are removed when this object is deinitialized or this process ends, even by a crash.
///
/// ```swift
/// let server = try await PostgresServer.shared()
/// let url = try await server.makeDatabase().url
/// ```
///
/// It syncs to disk as a production server does. Connections over TCP need the password; those over the socket in its
/// folder don't.
package actor PostgresServer {
    /// The superuser, whose name is also that of the first database.
    package static let user = "emporium"
    /// The superuser's password, the same for all servers, so that tests can check that it doesn't leak.
    package static let password = "pa55:w0rd/of@tests"
    /// The address on which it listens.
    package static let host = "127.0.0.1"

    /// The port on which it listens, unchanged by restarts.
    package nonisolated let port: Int
    /// The folder of its socket, for connections without a password.
    package nonisolated var socketFolder: URL { folder.url }
    /// The installed programs of this server.
    package nonisolated let programs: PostgresPrograms
    /// The name, also in replication.
    package nonisolated let name: String

    nonisolated let account: Account
    nonisolated let folder: ServerFolder
    private nonisolated let watchdog: Watchdog
    var settings: [String: String]
    private var process: Process?

    /// The server that all tests of this process share. Each test creates its own databases.
    package static func shared() async throws -> PostgresServer {
        try await sharedServer.value
    }

    private static let sharedServer = Task { try await PostgresServer.launch(settings: ["max_connections": "300"]) }

    /// Creates and starts a separate server, for tests that stop or break it.
    ///
    /// - Parameter settings: Settings as in `postgresql.conf`, which override the defaults below.
    /// - Throws: A ``PostgresServerError`` that says what to install if PostgreSQL is missing, or contains the server's
    ///   log.
    package static func launch(settings: [String: String] = [:]) async throws -> PostgresServer {
        let server = try PostgresServer(name: "primary", programs: .find(), settings: settings)
        try await server.initialize()
        try await server.start()
        return server
    }

    /// Makes an empty folder for a server.
    init(name: String, programs: PostgresPrograms, settings: [String: String]) throws {
        self.name = name
        self.programs = programs
        self.settings = settings
        account = try Account()
        folder = try ServerFolder(for: account)
        watchdog = try Watchdog(over: folder)
        port = try freePort()
    }

    deinit {
        watchdog.release()
    }

    private func initialize() async throws {
        let passwordFile = folder.url.appendingPathComponent("password")
        try Data("\(Self.password)\n".utf8).write(to: passwordFile)
        try await run(
            "initdb",
            [
                "--pgdata", folder.data.path, "--username", Self.user, "--pwfile", passwordFile.path,
                "--auth-local", "trust", "--auth-host", "scram-sha-256", "--encoding", "UTF8", "--locale", "C",
                "--no-sync",
            ]
        )
        try FileManager.default.removeItem(at: passwordFile)
        try await sqlOffline("CREATE DATABASE \(Self.user)")
    }

    /// Stops the server and removes its files. Deinitialization does the same.
    package func remove() async throws {
        // Paused processes would have to be killed.
        if isRunning { try resume() }
        watchdog.release()
        try await waitUntil("the server was removed") { watchdog.isDone }
    }

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Throws: A ``PostgresServerError`` with the server's log if it doesn't start.
    package func start() async throws {
        let process = account.command(programs.program("postgres"), serverArguments, in: folder.url).makeProcess()
        if !FileManager.default.fileExists(atPath: folder.log.path) {
            try Data().write(to: folder.log)
        }
        let log = try FileHandle(forWritingTo: folder.log)
        try log.seekToEnd()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.start()
        try log.close()
        self.process = process
        try await waitUntil("the server accepted connections. \(folder.lastWords)") {
            if !process.isRunning { throw PostgresServerError("The server does not start. \(folder.lastWords)") }
            return try await isReady()
        }
    }

    /// Whether it accepts connections.
    package func isReady() async throws -> Bool {
        try await command("pg_isready", ["--quiet"] + place).run().status == 0
    }

    /// Whether the main process exists, paused or not.
    package var isRunning: Bool { process?.isRunning ?? false }

    /// The end of its log.
    package nonisolated var lastWords: String { folder.lastWords }

    private var serverArguments: [String] {
        let all = Self.settings.merging(settings) { $1 }.merging(
            ["listen_addresses": Self.host, "port": "\(port)", "unix_socket_directories": folder.url.path]) { $1 }
        return ["-D", folder.data.path] + all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0)=\($1)"] }
    }

    /// Small, because many servers run at the same time, but as safe as in production. Dynamic shared memory is in
    /// files, which are removed with the folder; POSIX shared memory would remain after the server is killed.
    private static let settings = [
        "fsync": "on",
        "synchronous_commit": "on",
        "shared_buffers": "32MB",
        "max_connections": "100",
        "dynamic_shared_memory_type": "mmap",
        "max_wal_senders": "4",
        "max_replication_slots": "4",
        "wal_level": "replica",
        "wal_keep_size": "64MB",
        "hot_standby": "on",
        // Queries on a standby are short and may delay its replay.
        "max_standby_archive_delay": "-1",
        "max_standby_streaming_delay": "-1",
        "timezone": "UTC",
        "log_timezone": "UTC",
    ]

    /// The arguments that connect a program of PostgreSQL to this server's socket.
    nonisolated var place: [String] {
        ["--host", folder.url.path, "--port", "\(port)", "--username", Self.user]
    }

    nonisolated func command(_ program: String, _ arguments: [String]) -> ProgramCall {
        account.command(programs.program(program), arguments, in: folder.url)
    }

    @discardableResult
    nonisolated func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await command(program, arguments).run().checked().text
    }

    /// Executes a statement before the first start of the server.
    private func sqlOffline(_ statement: String) async throws {
        let arguments = ["--single", "-D", folder.data.path, "postgres"]
        _ = try await command("postgres", arguments).run(input: statement + "\n").checked()
    }
}
