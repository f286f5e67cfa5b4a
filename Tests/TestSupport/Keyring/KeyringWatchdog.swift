import Foundation

/// Another process that ends the processes of a ``Keyring`` and removes its folder when this process releases it or
/// ends, even by a crash.
final class KeyringWatchdog: @unchecked Sendable {
    // @unchecked because the methods used here of `Process` and `Pipe` are thread-safe.
    private let process = Process()
    /// The other process reads this pipe until it is closed. The system closes it when this process is killed.
    private let leash = Pipe.separate()
    private let list: URL

    /// Starts the watchdog.
    init(over folder: URL) throws {
        list = folder.appendingPathComponent("processes")
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "watchdog", folder.path, list.path]
        process.standardInput = leash
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        try process.start()
        try leash.fileHandleForReading.close()
    }

    /// Sets the processes that are to be ended.
    func watch(_ processes: [Int32]) throws {
        try Data(processes.map { "\($0)\n" }.joined().utf8).write(to: list, options: .atomic)
    }

    /// Starts to end the processes and to remove the folder, without waiting.
    func release() {
        do { try leash.fileHandleForWriting.close() } catch {}
    }

    private static let script = """
        trap '' HUP INT TERM
        cat >/dev/null
        while read -r process; do kill -KILL "$process"; done <"$2"
        rm -rf "$1" || { sleep 1; rm -rf "$1"; }
        """
}
