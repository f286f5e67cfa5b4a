import Bodega
import BodegaServer
import Foundation
import Testing

/// The certificates are made by openssl, and the clients are curl and openssl.
@Suite("A server with TLS")
struct TLSTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func makeCertificate(_ name: String, _ kind: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        async throws -> StorageServerTLS
    {
        let tls = StorageServerTLS(certificate: file("\(name).pem"), key: file("\(name).key"))
        let made = try await ProgramRun(
            "openssl",
            ["req", "-x509", "-newkey"] + kind + [
                "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                "-keyout", tls.key.path, "-out", tls.certificate.path,
            ])
        try #require(made.status == 0, "\(made.output)")
        return tls
    }

    private func curl(_ arguments: [String]) async throws -> ProgramRun {
        try await ProgramRun("curl", ["--silent", "--show-error", "--max-time", "60"] + arguments)
    }

    @Test("serves clients that know its certificate", arguments: [true, false])
    func clients(_ isRSA: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let tls = isRSA ? try await makeCertificate("a", ["rsa:2048"]) : try await makeCertificate("a")
        let database = MemoryStorageEngine()
        try await database.write(Data(#"{"a":1}"#.utf8), key: CacheKey("milk"))
        let tokens = AccessTokens(storage: MemoryStorageEngine())
        let token = try await tokens.create(name: "a", grants: [AccessGrant()]).token
        // Other machines may reach it, with TLS and tokens.
        let server = try await TestServer(access: tokens, ["notes": database]) { options in
            options.tls = tls
            options.host = "0.0.0.0"
        }
        let url = "https://127.0.0.1:\(server.port)/v1/collections/notes/items/milk"
        let trust = ["--cacert", tls.certificate.path, "--header", "Authorization: Bearer \(token)"]
        let read = try await curl(trust + [url])
        #expect(read.status == 0 && read.output == #"{"a":1}"#)
        // Many bytes in both directions, over a connection that is used again.
        let large = String(repeating: "0123456789abcdef", count: 1 << 16)
        try Data(large.utf8).write(to: file("large"))
        let both = try await curl(trust + ["--upload-file", file("large").path, url, "--next"] + trust + [url])
        #expect(both.status == 0 && both.output == large)
        // A client that does not know the certificate, and one without TLS.
        #expect(try await curl([url]).status == 60)
        let plain = try await curl(["http://127.0.0.1:\(server.port)/v1/health"])
        #expect(plain.status != 0 && !plain.output.contains("204"))
        // TLS 1.2 and 1.3 only.
        for (version, isValid) in [("tls1_1", false), ("tls1_2", true), ("tls1_3", true)] {
            let ciphers = ["-cipher", "DEFAULT@SECLEVEL=0", "-CAfile", tls.certificate.path, "-verify_return_error"]
            let client = try await ProgramRun(
                "openssl", ["s_client", "-connect", "127.0.0.1:\(server.port)", "-" + version] + ciphers)
            #expect((client.status == 0) == isValid, "\(version): \(client.output)")
        }
        #expect(try await curl(trust + [url]).output == large)
    }

    @Test("closes a connection whose handshake takes too long")
    func slowHandshake() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let tls = try await makeCertificate("a")
        let server = try await TestServer(["notes": MemoryStorageEngine()]) { options in
            options.tls = tls
            options.limits.headSeconds = 1
            options.limits.idleSeconds = 3_600
        }
        let silent = try RawConnection(port: server.port)
        #expect(await silent.receive().isEmpty)
    }

    private func failure(_ tls: StorageServerTLS) async -> StorageError? {
        var options = StorageServerOptions()
        (options.port, options.tls) = (0, tls)
        let server = StorageServer(access: OpenAccess(), collections: [:], options: options)
        return await #expect(throws: StorageError.self) { try await server.run() }
    }

    @Test("says which file is missing or damaged, and nothing of a key")
    func damagedFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (one, other) = (try await makeCertificate("one"), try await makeCertificate("other"))
        let key = try String(contentsOf: one.key, encoding: .utf8)
        let certificate = try String(contentsOf: one.certificate, encoding: .utf8)
        try Data(key.replacingOccurrences(of: "A", with: "").utf8).write(to: file("damaged.key"))
        try Data(certificate.replacingOccurrences(of: "A", with: "").utf8).write(to: file("damaged.pem"))
        try Data().write(to: file("empty"))
        let locked = try await ProgramRun(
            "openssl",
            ["pkey", "-in", one.key.path, "-aes256", "-passout", "pass:secret", "-out", file("locked.key").path])
        try #require(locked.status == 0, "\(locked.output)")
        let cases: [(certificate: URL, key: URL, wrong: URL, code: StorageError.Code)] = [
            (file("missing"), one.key, file("missing"), .cannotOpen),
            (one.certificate, file("missing"), file("missing"), .cannotOpen),
            (folder, one.key, folder, .cannotOpen),
            (file("empty"), one.key, file("empty"), .invalidArgument),
            (one.certificate, file("empty"), file("empty"), .invalidArgument),
            (file("damaged.pem"), one.key, file("damaged.pem"), .invalidArgument),
            (one.certificate, file("damaged.key"), file("damaged.key"), .invalidArgument),
            (one.certificate, file("locked.key"), file("locked.key"), .invalidArgument),
            (one.key, one.certificate, one.key, .invalidArgument),
            (one.certificate, one.certificate, one.certificate, .invalidArgument),
            (one.certificate, other.key, other.key, .invalidArgument),
        ]
        let secrets = key.split(separator: "\n").filter { !$0.hasPrefix("-") }
        for (certificate, key, wrong, code) in cases {
            let error = await failure(StorageServerTLS(certificate: certificate, key: key))
            #expect(error?.code == code && error?.file == wrong, "\(certificate.path) \(key.path)")
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains(wrong.path) && !secrets.contains { text.contains($0) })
        }
    }
}
