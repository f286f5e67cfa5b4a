import Foundation

/// What a client writes, in a file that outlives it: a line before each transaction and one after it.
struct Journal {
    private let file: FileHandle

    init(_ url: URL) throws {
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        file = try FileHandle(forWritingTo: url)
        try file.seekToEnd()
        // A process before this one may have been killed in the middle of a line.
        try file.write(contentsOf: Data("\n".utf8))
    }

    private struct Begin: Encodable {
        let kind: String
        let token: String
        let items: [String]
        let member: String?
        let time: Double
    }

    private struct End: Encodable {
        let acknowledged: String
        let time: Double
    }

    /// Notes a transaction, carries it out, and notes that it was acknowledged.
    func noting(
        _ kind: String, _ token: String, _ items: [String], _ member: String?, _ body: () async throws -> some Any
    ) async throws {
        try append(Begin(kind: kind, token: token, items: items, member: member, time: now))
        _ = try await body()
        try append(End(acknowledged: token, time: now))
    }

    private var now: Double { Date().timeIntervalSince1970 }

    private func append(_ line: some Encodable) throws {
        try file.write(contentsOf: JSONEncoder().encode(line) + Data("\n".utf8))
        try file.synchronize()
    }
}
