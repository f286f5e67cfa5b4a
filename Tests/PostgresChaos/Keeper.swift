#if Postgres
import Bodega
import Foundation
import TestSupport

/// The folder and the processes of a run. A watchdog removes both when this process ends, even by a crash.
final class Keeper: Sendable {
    /// The folder.
    let folder: URL
    let account: Account
    private let leash: Pipe
    private let watchdog: Process

    init() throws {
        account = try Account()
        folder = URL(fileURLWithPath: "/tmp/emporium-chaos-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("processes"), withIntermediateDirectories: false)
        try account.own(folder)
        (leash, watchdog) = (Pipe.separate(), Process())
        watchdog.executableURL = URL(fileURLWithPath: "/bin/sh")
        watchdog.arguments = ["-c", Self.script, "watchdog", folder.path]
        watchdog.standardInput = leash
        watchdog.standardOutput = FileHandle.nullDevice
        watchdog.standardError = FileHandle.nullDevice
        watchdog.currentDirectoryURL = URL(fileURLWithPath: "/")
        try watchdog.start()
        try leash.fileHandleForReading.close()
    }

    /// Ends all processes and removes the folder, and waits for both.
    func end() {
        do { try leash.fileHandleForWriting.close() } catch { report("The watchdog could not be released: \(error)") }
        watchdog.waitUntilExit()
    }

    /// Copies the logs of all programs to another folder.
    func copyLogs(to other: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".log") {
            try Data(contentsOf: folder.appendingPathComponent(name)).write(to: other.appendingPathComponent(name))
        }
    }

    /// Starts a program as the servers' user, with its own log.
    func start(_ name: String, _ program: String, _ arguments: [String]) throws -> Daemon {
        let log = folder.appendingPathComponent("\(name).log")
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let handle = try FileHandle(forWritingTo: log)
        try handle.seekToEnd()
        let process = account.command(
            URL(fileURLWithPath: program), arguments, environment: ["HOME": folder.path, "LC_ALL": "C.UTF-8"],
            in: folder
        ).makeProcess()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.start()
        try handle.close()
        return try Daemon(process, log: log, note: folder.appendingPathComponent("processes"))
    }

    /// Supervisors are killed first. Servers end by an immediate shutdown, which also kills stopped processes.
    private static let script = """
        trap '' HUP INT TERM
        cat >/dev/null
        for note in "$1"/processes/*; do
            process=${note##*/}
            kill -KILL "$process" 2>/dev/null
        done
        for note in "$1"/*/data/postmaster.pid; do
            [ -e "$note" ] || continue
            server=$(head -n 1 "$note")
            kill -CONT "$server" 2>/dev/null
            kill -QUIT "$server" 2>/dev/null
            turns=0
            while kill -0 "$server" 2>/dev/null && [ $turns -lt 200 ]; do
                sleep 0.1
                turns=$((turns + 1))
            done
            kill -KILL "$server" 2>/dev/null
        done
        rm -rf "$1" || { sleep 1; rm -rf "$1"; }
        """
}

/// A program that runs until it is killed.
final class Daemon: Sendable {
    private let process: Locked<Process>
    private let log: URL
    private let note: URL
    let identifier: Int32

    fileprivate init(_ process: Process, log: URL, note folder: URL) throws {
        identifier = process.processIdentifier
        self.process = Locked(process)
        self.log = log
        note = folder.appendingPathComponent("\(identifier)")
        try Data().write(to: note)
    }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    /// Kills the program, waits until it has ended, and forgets its identifier, so that a later process with the same
    /// identifier is not killed.
    func kill() async throws {
        ProcessSignal.kill.send(to: identifier)
        try await waitUntil("process \(identifier) had ended") { !isRunning }
        try FileManager.default.removeItem(at: note)
    }

    /// The last lines of its log.
    var lastWords: String {
        do {
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").suffix(15)
                .joined(separator: "\n")
        } catch {
            return "Its log could not be read: \(error)"
        }
    }
}
#endif
