import Foundation
import TestProcesses

/// Another process that stops a server and removes its folder when this process lets go of it, or ends in whatever way.
final class Watchdog: @unchecked Sendable {
    // @unchecked because `Process` and `Pipe` are thread-safe in what is used of them.
    private let process = Process()
    /// The other process reads it until it is closed, which the system does when this process is killed.
    private let leash = Pipe()

    /// Starts watching.
    init(over folder: ServerFolder) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "watchdog", folder.url.path, folder.processFile.path]
        process.standardInput = leash
        // Not those of this process, or who reads these to their end would wait for the watchdog too.
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.start()
        try leash.fileHandleForReading.close()
    }

    /// Has the server stopped and removed, without waiting for that.
    func release() {
        do { try leash.fileHandleForWriting.close() } catch {}
    }

    /// Whether the server is stopped and removed.
    var isDone: Bool { !process.isRunning }

    /// An immediate shutdown ends a server's processes also if they are stopped: what does not end by itself within five
    /// seconds is killed by the server. The folder goes last, so that the server's user never sees it vanish.
    private static let script = """
        trap '' HUP INT TERM
        cat >/dev/null
        server=$(head -n 1 "$2" 2>/dev/null)
        if [ -n "$server" ]; then
            kill -CONT "$server" 2>/dev/null
            kill -QUIT "$server" 2>/dev/null
            turns=0
            while [ -e "$2" ] && kill -0 "$server" 2>/dev/null && [ $turns -lt 300 ]; do
                sleep 0.1
                turns=$((turns + 1))
            done
            if [ -e "$2" ]; then kill -KILL "$server" 2>/dev/null; fi
        fi
        rm -rf "$1" || { sleep 1; rm -rf "$1"; }
        """
}
