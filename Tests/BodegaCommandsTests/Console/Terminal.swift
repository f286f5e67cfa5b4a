import Foundation
import TestSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that runs on its own pseudo-terminal.
final class Terminal: @unchecked Sendable {
    // @unchecked because `Process` is thread-safe in what is used of it, and one test at a time reads.
    private let process = Process()
    private let master: Int32
    private var seen = ""

    /// Whether a program can be started so that keys such as Ctrl-C reach it.
    static let hasControl = FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - arguments: Its arguments.
    ///   - environment: Variables to add to its environment.
    ///   - columns: The width of the terminal.
    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], columns: UInt16 = 80) throws {
        let name: String
        (master, name) = try Self.openMaster()
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        let slave = open(name, O_RDWR | O_NOCTTY)
        guard slave >= 0, ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENXIO) }
        defer { close(slave) }
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.executableURL = Self.hasControl ? URL(fileURLWithPath: "/usr/bin/setsid") : program
        process.arguments = (Self.hasControl ? ["--ctty", "--wait", program.path] : []) + arguments
        var variables = ProcessInfo.processInfo.environment
        variables["TERM"] = "xterm"
        variables["NO_COLOR"] = nil
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try process.start()
    }

    #if canImport(Darwin)
    private static func openMaster() throws -> (Int32, String) {
        let master = posix_openpt(O_RDWR | O_NOCTTY)
        guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
            throw POSIXError(.ENXIO)
        }
        return (master, String(cString: name))
    }
    #else
    /// What `posix_openpt` and its companions do on Linux, see pts(4). Glibc shows these to Swift only under a feature
    /// macro that the toolchain does not set.
    private static func openMaster() throws -> (Int32, String) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var unlocked: Int32 = 0
        var number: UInt32 = 0
        let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)  // TIOCSPTLCK, TIOCGPTN
        guard master >= 0, ioctl(master, setLock, &unlocked) == 0, ioctl(master, getNumber, &number) == 0 else {
            throw POSIXError(.ENXIO)
        }
        return (master, "/dev/pts/\(number)")
    }
    #endif

    deinit {
        close(master)
    }

    /// Types a text.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(write(master, bytes, bytes.count) == bytes.count)
    }

    /// Reads until a text has been shown, or to the end.
    ///
    /// - Returns: What was shown so far, with line ends as a program writes them.
    @discardableResult
    func read(until text: String? = nil) async -> String {
        await blocking { self.readWaiting(until: text) }
    }

    private func readWaiting(until text: String?) -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.map({ !seen.contains($0) }) ?? true {
            let count = Foundation.read(master, &buffer, buffer.count)
            // Linux reports the end as an error.
            if count <= 0 { break }
            seen += String(decoding: buffer[..<count], as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
        }
        return seen
    }

    /// Reads to the end and waits for the program.
    func finish() async -> (output: String, status: Int32) {
        let output = await read()
        await blocking { self.process.waitUntilExit() }
        return (output, process.terminationStatus)
    }
}
