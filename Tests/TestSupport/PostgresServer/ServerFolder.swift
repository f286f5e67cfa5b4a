import Foundation

/// The folder with a server's data, socket and log.
struct ServerFolder: Sendable {
    let url: URL

    var data: URL { url.appendingPathComponent("data") }
    var log: URL { url.appendingPathComponent("log") }
    var processFile: URL { data.appendingPathComponent("postmaster.pid") }

    /// Creates an empty folder in a place where the server's user can enter it and the path of a socket in it is not
    /// too long.
    init(for account: Account) throws {
        let name = "postgres-\(UInt32.random(in: .min ... .max))"
        // The capacity of `sockaddr_un` on Apple platforms, the smallest of all platforms, without the socket's own
        // name.
        let longest = 103 - "/.s.PGSQL.65535".utf8.count
        let parents = [FileManager.default.temporaryDirectory.path, "/tmp", "/var/tmp"].map(URL.init(fileURLWithPath:))
        let parent = parents.first {
            $0.appendingPathComponent(name).path.utf8.count <= longest && account.canEnter($0)
        }
        guard let parent else {
            throw PostgresServerError(
                """
                None of \(parents.map(\.path)) can hold a server: the path is too long or the server's user can't \
                enter.
                """
            )
        }
        url = parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        try account.own(url)
    }

    /// The last lines of the log.
    var lastWords: String {
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return "Its log is empty." }
        return text.split(separator: "\n").suffix(20).joined(separator: "\n")
    }
}
