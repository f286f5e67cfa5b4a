import Foundation

/// Another process that stops a server and removes its folder when this process releases it or ends, even by a crash.
final class Watchdog: @unchecked Sendable {
    // @unchecked because the methods used here of `Process` and `Pipe` are thread-safe.
    private let process = Process()
    /// The other process reads this pipe until it is closed. The system closes it when this process is killed.
    private let leash = Pipe.separate()

    /// Starts the watchdog.
    init(over folder: ServerFolder) throws {
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "watchdog", folder.url.path, folder.processFile.path]
        process.standardInput = leash
        // Not this process's own, because a reader of these would wait until the watchdog ends, too.
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.start()
        try leash.fileHandleForReading.close()
    }

    /// Starts stopping and removing the server, without waiting.
    func release() {
        do { try leash.fileHandleForWriting.close() } catch {}
    }

    /// Whether the server has been stopped and removed.
    var isDone: Bool { !process.isRunning }

    /// An immediate shutdown also ends stopped processes: the server kills those that do not end within five seconds.
    /// The folder is removed last, so that it never disappears while the server's user needs it.
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
