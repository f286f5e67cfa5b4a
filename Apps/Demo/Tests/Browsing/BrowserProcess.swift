import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A headless Chromium that is controlled through two pipes: it reads commands from its descriptor 3 and writes
/// responses and events to its descriptor 4, as JSON that ends with a zero byte.
final class BrowserProcess: Sendable {
    private let pid: pid_t
    private let commands: Int32
    private let folder: URL

    /// The messages of the browser until it exits.
    let messages: AsyncStream<Data>

    /// The reason why the browser could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a browser with a profile of its own. The caller must call ``end()``.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gallery-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (browserReads, weWrite) = try Self.pipe()
        let (weRead, browserWrites) = try Self.pipe()
        pid = try Self.spawn(
            try Self.executable(),
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--remote-debugging-pipe", "--user-data-dir=\(folder.path)", "--hide-scrollbars",
                "--force-color-profile=srgb", "--force-prefers-reduced-motion",
                // Both tabs of a test must be awake.
                "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
                "--disable-backgrounding-occluded-windows",
            ],
            descriptors: [3: browserReads, 4: browserWrites]
        )
        close(browserReads)
        close(browserWrites)
        commands = weWrite
        messages = Self.read(weRead)
    }

    /// Ends the browser and its child processes, and removes its profile.
    func end() {
        close(commands)
        kill(-pid, SIGKILL)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("The profile of a browser was not removed: \(error)")
        }
    }

    /// Sends a command.
    func send(_ json: Data) throws {
        let bytes = [UInt8](json) + [0]
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(commands, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "The browser has closed its pipe.") }
            sent += count
        }
    }

    /// A pipe that other processes do not inherit, with descriptors above those that the browser uses.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else {
            throw Failure(description: "The pipe could not be created: \(errno).")
        }
        let moved = ends.map { end in
            defer { close(end) }
            return fcntl(end, F_DUPFD_CLOEXEC, 10)
        }
        // Writing to a browser that has exited must not end this process.
        signal(SIGPIPE, SIG_IGN)
        return (moved[0], moved[1])
    }

    private static func read(_ descriptor: Int32) -> AsyncStream<Data> {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        Thread.detachNewThread {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var unread = Data()
            while case let more = nextBytes(of: file), !more.isEmpty {
                unread += more
                while let end = unread.firstIndex(of: 0) {
                    continuation.yield(Data(unread[..<end]))
                    unread = Data(unread[(end + 1)...])
                }
            }
            continuation.finish()
        }
        return stream
    }

    private static func executable() throws -> String {
        // The same order as in bin/lib/system-packages.sh. The last one can be a command that only says how to install
        // it.
        let names = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"]
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for name in names {
            for folder in folders {
                let path = "\(folder)/\(name)"
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
        }
        throw Failure(
            description: "These tests need Chromium, which is not in PATH. On Debian: apt-get install chromium. "
                + "On Ubuntu: snap install chromium. In containers, which cannot run snaps, install Google Chrome.")
    }

    private static func spawn(_ program: String, _ options: [String], descriptors: [Int32: Int32]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (wanted, ours) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, wanted) }
        for standard: Int32 in [1, 2] {
            posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_WRONLY, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process group of its own, so that all its processes can be ended.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)

        var arguments = ([program] + options).map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var pid = pid_t()
        let code = Process.starting.withLock {
            posix_spawn(&pid, program, &actions, &attributes, arguments, environ)
        }
        guard code == 0 else { throw Failure(description: "\(program) could not be started: \(code).") }
        return pid
    }
}
