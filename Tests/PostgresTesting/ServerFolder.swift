import Foundation

/// The folder that holds all of a server: its data, its socket and its log.
struct ServerFolder: Sendable {
    let url: URL

    var data: URL { url.appendingPathComponent("data") }
    var log: URL { url.appendingPathComponent("log") }
    var processFile: URL { data.appendingPathComponent("postmaster.pid") }

    /// Creates an empty one, where the server's user gets into it and the name of a socket in it is not too long.
    init(for account: Account) throws {
        let name = "postgres-\(UInt32.random(in: .min ... .max))"
        // What `sockaddr_un` holds on Apple's platforms, which is the least, without the socket's own name.
        let longest = 103 - "/.s.PGSQL.65535".utf8.count
        let parents = [FileManager.default.temporaryDirectory.path, "/tmp", "/var/tmp"].map(URL.init(fileURLWithPath:))
        let parent = parents.first {
            $0.appendingPathComponent(name).path.utf8.count <= longest && account.canEnter($0)
        }
        guard let parent else {
            throw PostgresServerError(
                "None of \(parents.map(\.path)) can hold a server: the path is too long or the server's user can't enter."
            )
        }
        url = parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        try account.own(url)
    }

    /// The last lines that the server said.
    var lastWords: String {
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return "It said nothing." }
        return text.split(separator: "\n").suffix(20).joined(separator: "\n")
    }
}
