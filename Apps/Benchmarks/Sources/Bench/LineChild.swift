import BenchHarness
import Foundation

/// A child process of this program that reports line by line.
final class LineChild {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// Starts this program as a child, and waits for its first line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the child.
    ///   - line: The first line that the child prints.
    init(_ arguments: [String], firstLine line: String) throws {
        guard let program = Bundle.main.executableURL else {
            throw VerificationFailure("the path of this program is unknown")
        }
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try verify(nextLine(), equals: line, "the first line of the child")
    }

    /// Writes a line to the child's input.
    func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Reads the next line that the child prints.
    func nextLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw VerificationFailure("the child has exited") }
            unread += more
        }
    }

    /// Ends the child.
    func end() {
        process.terminate()
        process.waitUntilExit()
    }

    // MARK: In the child

    /// Prints a line.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
