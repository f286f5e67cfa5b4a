#if Postgres
import Bodega
import Foundation
import TestSupport

/// A child process with stores, see ``LoadTask``.
final class LoadProcess: Sendable {
    let name: String
    let identifier: Int32
    private let process: Locked<Process>
    private let input = Pipe.separate()
    private let lines: Lines

    init(_ name: String, url: String, seed: UInt64) throws {
        self.name = name
        let (process, output) = (Process(), Pipe.separate())
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["load", name, url, "\(seed)"]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        identifier = process.processIdentifier
        self.process = Locked(process)
        lines = Lines(output.fileHandleForReading)
    }

    /// Ends the process, as the end of this process would.
    func end() throws {
        try input.fileHandleForWriting.close()
    }

    /// Sends a command.
    func say(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// Waits for a response.
    ///
    /// - Parameter isMeant: Whether a line is the response.
    /// - Returns: The response, and the lines before it.
    func answer(where isMeant: (String) -> Bool) async throws -> (answer: String, before: [String]) {
        var before: [String] = []
        while let line = await lines.next() {
            if isMeant(line) { return (line, before) }
            before.append(line)
        }
        throw PostgresServerError("Process \(name) ended. Its last output: \(before.joined(separator: "\n"))")
    }
}

/// The lines of a pipe.
private actor Lines {
    private let stream: AsyncStream<String>

    init(_ handle: FileHandle) {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        self.stream = stream
        Thread {
            var unread = Data()
            while case let data = handle.availableData, !data.isEmpty {
                unread += data
                while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: unread[..<end], as: UTF8.self))
                    unread = Data(unread[(end + 1)...])
                }
            }
            continuation.finish()
        }.start()
    }

    func next() async -> String? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
#endif
