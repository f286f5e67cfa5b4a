import Foundation

/// The processes of the system and whose children they are.
package enum ProcessTable {
    /// The children of a process that have not ended.
    package static func children(of parent: Int32) throws -> [Int32] {
        try entries().filter { $0.parent == parent && !$0.hasEnded }.map(\.process)
    }

    /// Whether a process is there and has not ended. One that has ended stays in the table until its parent looks.
    package static func isRunning(_ process: Int32) throws -> Bool {
        try entries().contains { $0.process == process && !$0.hasEnded }
    }

    /// What a process calls itself; empty if it has ended.
    static func title(of process: Int32) throws -> String {
        if FileManager.default.fileExists(atPath: "/proc/self/stat") {
            // A process that ends in the meantime is not there.
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
            // A process that ends meanwhile is not there.
            guard let process = Int32(name),
                let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
                // The name of the program is in brackets and may hold anything.
                let end = line.lastIndex(of: ")")
            else { return nil }
            let fields = line[end...].split(separator: " ")
            guard fields.count > 2, let parent = Int32(fields[2]) else { return nil }
            return (process, parent, fields[1] == "Z" || fields[1] == "X")
        }
    }
}
