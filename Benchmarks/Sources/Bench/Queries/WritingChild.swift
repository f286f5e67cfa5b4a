import BenchHarness
import Bodega
import Foundation

/// A child process that writes a task for each line that it reads, and reports when it was committed.
final class WritingChild {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// Starts this program as a child that writes to a database.
    init(_ file: URL) throws {
        guard let program = Bundle.main.executableURL else {
            throw VerificationFailure("the path of this program is unknown")
        }
        process.executableURL = program
        process.arguments = ["--child-writes", file.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try verify(nextLine(), equals: "ready", "the first line of the child")
    }

    /// Writes a task that comes first in the window, and returns the time of the commit.
    func write(_ number: Int) throws -> UInt64 {
        try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
        let line = try nextLine()
        guard let moment = UInt64(line) else { throw VerificationFailure("the child printed \(line)") }
        return moment
    }

    /// Ends the child.
    func end() {
        process.terminate()
        process.waitUntilExit()
    }

    private func nextLine() throws -> String {
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

    /// The identifier of the task with a number.
    static func id(_ number: Int) -> String { "new-\(number)" }

    // MARK: In the child

    /// The child's work, until its input ends.
    static func writeTasks(to path: String) async throws {
        let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path))
        let storage = ObjectStorage<QueriedTask>(storage: engine)
        say("ready")
        while let line = readLine(), let number = Int(line) {
            var task = QueriedTask(number)
            task.id = id(number)
            // Each comes before the one before.
            task.dueDate = Date(timeIntervalSinceReferenceDate: 500_000_000.5 - Double(number) / 1000)
            try await storage.store(task, forKey: task.key)
            say("\(FollowingChild.now)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
