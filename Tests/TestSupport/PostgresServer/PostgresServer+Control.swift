import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension PostgresServer {
    /// The mode in which a server stops.
    package enum Shutdown: Sendable {
        /// Closes connections, rolls back transactions and flushes all data.
        case fast
        /// As in a crash: connections break, and the next start runs recovery.
        case immediate
    }

    /// Stops the server and waits until it has ended. ``start()`` starts it again, on the same port.
    package func stop(_ shutdown: Shutdown = .fast) async throws {
        try signal(SIGCONT)
        try signal(shutdown == .fast ? SIGINT : SIGQUIT, withChildren: false)
        try await waitUntil("the server stopped. \(lastWords)") { !isRunning }
    }

    /// Stops the server and starts it again.
    package func restart(_ shutdown: Shutdown = .fast) async throws {
        try await stop(shutdown)
        try await start()
    }

    /// Kills all processes of the server with SIGKILL, as if the machine had failed, and waits until they have ended.
    package func kill() async throws {
        // Stop the main process first, so that it starts no further process.
        try signal(SIGSTOP, withChildren: false)
        let processes = try processIdentifiers()
        let sharedMemory = try sharedMemoryIdentifier()
        for process in processes { ProcessSignal.kill.send(to: process) }
        try await waitUntil("all processes of the server were gone") {
            try !isRunning && processes.allSatisfy { try !ProcessTable.isRunning($0) }
        }
        // The next start and the watchdog would otherwise take an unrelated process with the same identifier for the
        // server.
        if let sharedMemory { shmctl(sharedMemory, IPC_RMID, nil) }
        try FileManager.default.removeItem(at: folder.processFile)
    }

    /// Stops all processes of the server with SIGSTOP: connections stay open and the system accepts new ones, but no
    /// process responds.
    package func pause() throws {
        try signal(SIGSTOP)
    }

    /// Resumes the processes after ``pause()``.
    package func resume() throws {
        try signal(SIGCONT)
    }

    /// The processes that serve connections to a database, without asking the server, which may be stopped.
    package func backends(of database: String) throws -> [Int32] {
        try ProcessTable.children(of: mainProcess()).filter {
            // Such as "postgres: user database 127.0.0.1(12345) idle".
            try ProcessTable.title(of: $0).split(separator: " ").contains(Substring(database))
        }
    }

    private func signal(_ number: Int32, withChildren: Bool = true) throws {
        let main = try mainProcess()
        // The main process first, so that it starts no child that would be missed.
        for process in [main] + (withChildren ? try ProcessTable.children(of: main) : []) {
            // A child may have ended in the meantime.
            if !ProcessSignal(number).send(to: process), process == main {
                throw PostgresServerError("The server could not be sent signal \(number): \(errno)")
            }
        }
    }

    private func processIdentifiers() throws -> [Int32] {
        let main = try mainProcess()
        return try [main] + ProcessTable.children(of: main)
    }

    private func mainProcess() throws -> Int32 {
        guard isRunning, let first = try processLines().first, let process = Int32(first) else {
            throw PostgresServerError("The server is not running.")
        }
        return process
    }

    /// The main process's record of itself, see https://www.postgresql.org/docs/current/storage-file-layout.html
    private func processLines() throws -> [Substring] {
        try String(contentsOf: folder.processFile, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private func sharedMemoryIdentifier() throws -> Int32? {
        let lines = try processLines()
        guard lines.count > 6 else { return nil }
        return lines[6].split(separator: " ").last.flatMap { Int32($0) }
    }
}
