package import Foundation
import TestProcesses

/// A real PostgreSQL server for tests: new, empty, on a free port of the loopback interface, and gone without a trace when
/// this object or this process is gone, however it ends.
///
/// ```swift
/// let server = try await PostgresServer.shared()
/// let url = try await server.makeDatabase().url
/// ```
///
/// It syncs like one in use. Connections over TCP need the password; those over the socket in its folder don't.
package actor PostgresServer {
    /// The superuser, whose name is also that of the first database.
    package static let user = "emporium"
    /// The superuser's password, the same for all servers, so that tests can look for it where it must not be.
    package static let password = "pa55:w0rd/of@tests"
    /// The address that it listens on.
    package static let host = "127.0.0.1"

    /// The port that it listens on, also after a restart.
    package nonisolated let port: Int
    /// The folder that has its socket, for connections without a password.
    package nonisolated var socketFolder: URL { folder.url }
    /// The installed programs that it was started with.
    package nonisolated let programs: PostgresPrograms
    /// Its name, which it also has as a standby.
    package nonisolated let name: String

    nonisolated let account: Account
    nonisolated let folder: ServerFolder
    private nonisolated let watchdog: Watchdog
    var settings: [String: String]
    private var process: Process?

    /// The server that the tests of this process share, each with databases of its own.
    package static func shared() async throws -> PostgresServer {
        try await sharedServer.value
    }

    private static let sharedServer = Task { try await PostgresServer.launch(settings: ["max_connections": "300"]) }

    /// Creates a server of one's own and starts it, for tests that stop or break it.
    ///
    /// - Parameter settings: Settings as in `postgresql.conf`, over those that all servers have.
    /// - Throws: A ``PostgresServerError`` that tells what to install if there is no PostgreSQL, or what the server said.
    package static func launch(settings: [String: String] = [:]) async throws -> PostgresServer {
        let server = try PostgresServer(name: "primary", programs: .find(), settings: settings)
        try await server.initialise()
        try await server.start()
        return server
    }

    /// Makes an empty place for a server.
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

    private func initialise() async throws {
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

    /// Stops it for good and removes everything. Without this call it happens when the object is gone.
    package func remove() async throws {
        // What is paused would have to be killed in the end.
        if isRunning { try resume() }
        watchdog.release()
        try await waitUntil("the server was removed") { watchdog.isDone }
    }

    /// Starts it and waits until it accepts connections.
    ///
    /// - Throws: A ``PostgresServerError`` with what it said if it doesn't start.
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

    /// Whether its main process is there, paused or not.
    package var isRunning: Bool { process?.isRunning ?? false }

    /// What its log ends with.
    package nonisolated var lastWords: String { folder.lastWords }

    private var serverArguments: [String] {
        let all = Self.settings.merging(settings) { $1 }.merging(
            ["listen_addresses": Self.host, "port": "\(port)", "unix_socket_directories": folder.url.path]) { $1 }
        return ["-D", folder.data.path] + all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0)=\($1)"] }
    }

    /// Small, as many run at once, but as safe as a server in use. What it shares with its processes beside its main memory
    /// is in files, which go with the folder, rather than in shared memory, which would stay behind when it is killed.
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
        // What is asked of a standby is short, and may take its time.
        "max_standby_archive_delay": "-1",
        "max_standby_streaming_delay": "-1",
        "timezone": "UTC",
        "log_timezone": "UTC",
    ]

    /// The arguments that lead a program of PostgreSQL to this server, by its socket.
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

    /// Executes a statement before the server runs for the first time.
    private func sqlOffline(_ statement: String) async throws {
        let arguments = ["--single", "-D", folder.data.path, "postgres"]
        _ = try await command("postgres", arguments).run(input: statement + "\n").checked()
    }
}
