import Foundation

/// The processes of the system with their parents.
package enum ProcessTable {
    /// The running children of a process.
    package static func children(of parent: Int32) throws -> [Int32] {
        try entries().filter { $0.parent == parent && !$0.hasEnded }.map(\.process)
    }

    /// Whether a process is running. A process that has ended remains in the table until its parent reaps it.
    package static func isRunning(_ process: Int32) throws -> Bool {
        try entries().contains { $0.process == process && !$0.hasEnded }
    }

    /// The command line of a process; empty if it has ended.
    static func title(of process: Int32) throws -> String {
        if FileManager.default.fileExists(atPath: "/proc/self/stat") {
            // A process that ended in the meantime has no entry.
            guard let bytes = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { return "" }
            return String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        }
        return try ProgramCall(URL(fileURLWithPath: "/bin/ps"), ["-p", "\(process)", "-o", "command="]).runBlocking()
            .text
    }

    private typealias Entry = (process: Int32, parent: Int32, hasEnded: Bool)

    private static func entries() throws -> [Entry] {
        if FileManager.default.fileExists(atPath: "/proc/self/stat") { return try entriesOfProc() }
        let list = try ProgramCall(URL(fileURLWithPath: "/bin/ps"), ["-A", "-o", "pid=,ppid=,stat="]).runBlocking()
            .checked()
        return list.text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count == 3, let process = Int32(fields[0]), let parent = Int32(fields[1]) else { return nil }
            return (process, parent, fields[2].hasPrefix("Z"))
        }
    }

    private static func entriesOfProc() throws -> [Entry] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
            // A process that ended in the meantime has no entry.
            guard let process = Int32(name),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                // The name of the program is in parentheses and may contain any character.
                let end = line.lastIndex(of: ")")
            else { return nil }
            let fields = line[end...].split(separator: " ")
            guard fields.count > 2, let parent = Int32(fields[2]) else { return nil }
            return (process, parent, fields[1] == "Z" || fields[1] == "X")
        }
    }
}
