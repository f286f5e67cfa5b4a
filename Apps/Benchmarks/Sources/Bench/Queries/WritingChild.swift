import BenchHarness
import Bodega
import Foundation

/// A child process that writes a task for each line that it reads, and reports when it was committed.
final class WritingChild {
    private let child: LineChild

    /// Starts this program as a child that writes to a database.
    init(_ file: URL) throws {
        child = try LineChild(["--child-writes", file.path], firstLine: "ready")
    }

    /// Writes a task that comes first in the window, and returns the time of the commit.
    func write(_ number: Int) throws -> UInt64 {
        try child.write("\(number)")
        let line = try child.nextLine()
        guard let moment = UInt64(line) else { throw VerificationFailure("the child printed \(line)") }
        return moment
    }

    /// Ends the child.
    func end() { child.end() }

    /// The identifier of the task with a number.
    static func id(_ number: Int) -> String { "new-\(number)" }

    // MARK: In the child

    /// The child's work, until its input ends.
    static func writeTasks(to path: String) async throws {
        let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: path))
        let storage = ObjectStorage<QueriedTask>(storage: engine)
        LineChild.say("ready")
        while let line = readLine(), let number = Int(line) {
            var task = QueriedTask(number)
            task.id = id(number)
            // Each comes before the one before.
            task.dueDate = Date(timeIntervalSinceReferenceDate: 500_000_000.5 - Double(number) / 1000)
            try await storage.store(task, forKey: task.key)
            LineChild.say("\(FollowingChild.now)")
        }
    }
}
