import Browsing
import Foundation
import Testing

/// nginx with the configuration of the guide, but for the port, the certificate and the server behind it.
final class Nginx: Sendable {
    let url: URL
    private let process: Process
    private let folder: BodegaTool

    private static let path = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether the tests run. With EMPORIUM_REQUIRE_NGINX=1 they fail without nginx.
    static var isWanted: Bool { path != nil || ProcessInfo.processInfo.environment["EMPORIUM_REQUIRE_NGINX"] == "1" }

    init(before port: Int, replacing old: String = "", with new: String = "") async throws {
        let folder = try BodegaTool()
        let own = try Self.freePort()
        var site = try Guide("RunningAServer").snippet("nginx").split(separator: "\n")
            .filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
        for (text, replacement) in [
            ("listen 443 ssl;", "listen 127.0.0.1:\(own);"), ("http://127.0.0.1:8080;", "http://127.0.0.1:\(port);"),
        ] + (old.isEmpty ? [] : [(old, new)]) {
            #expect(site.contains(text))
            site = site.replacingOccurrences(of: text, with: replacement)
        }
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        let temporary = kinds.map { "\($0)_temp_path \(folder.path($0));" }.joined(separator: "\n")
        let configuration = """
            daemon off;
            master_process off;
            pid \(folder.path("pid"));
            error_log \(folder.path("log"));
            events {}
            http {
            access_log off;
            \(temporary)
            \(site)
            }
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: folder.path("nginx.conf")))
        process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.path, "nginx is not installed"))
        process.arguments = ["-p", folder.folder.path, "-e", folder.path("log"), "-c", folder.path("nginx.conf")]
        url = try #require(URL(string: "http://127.0.0.1:\(own)"))
        self.folder = folder
        try process.start()
        while !Self.isListening(own) {
            let log = URL(fileURLWithPath: folder.path("log"))
            if !process.isRunning {
                throw ServerProcess.Failure(
                    description: "nginx has ended: \(try String(contentsOf: log, encoding: .utf8))")
            }
            await Task.yield()
        }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func withSocket<Value>(
        _ address: sockaddr_in, _ body: (Int32, UnsafeMutablePointer<sockaddr>) throws -> Value
    ) rethrows -> Value {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = address
        return try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body(descriptor, $0) }
        }
    }

    private static func isListening(_ port: Int) -> Bool {
        withSocket(address(port)) { connect($0, $1, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    private static func freePort() throws -> Int {
        try withSocket(address(0)) { descriptor, pointer in
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            try #require(bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0)
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(in_port_t(bigEndian: $0.pointee.sin_port))
            }
        }
    }
}
