#if Postgres
import Bodega
import Foundation
import TestSupport
import Testing

@testable import BodegaPostgres

/// A self-signed certificate for 127.0.0.1.
private struct Certificate {
    let certificate: URL
    let key: URL

    private static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first(where: FileManager.default.isExecutableFile)

    static var canBeMade: Bool { program != nil }

    init(named name: String, in folder: URL) throws {
        certificate = folder.appendingPathComponent("\(name).crt")
        key = folder.appendingPathComponent("\(name).key")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.program))
        process.arguments = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key.path, "-out", certificate.path,
        ]
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        // The server rejects a key that other users can read.
        let owner = try FileManager.default.attributesOfItem(atPath: folder.path)[.ownerAccountID]
        for file in [certificate, key] {
            try FileManager.default.setAttributes(
                [.ownerAccountID: owner as Any, .posixPermissions: 0o600], ofItemAtPath: file.path)
        }
    }
}

@Suite
struct EncryptionTests {

    @Test(.enabled(if: Certificate.canBeMade, "Creating certificates requires openssl."))
    func `A server is trusted only with a certificate from a trusted authority`() async throws {
        let server = try await PostgresServer.launch()
        let right = try Certificate(named: "right", in: server.socketFolder)
        let wrong = try Certificate(named: "wrong", in: server.socketFolder)
        try await server.sql(
            """
            ALTER SYSTEM SET ssl_cert_file = '\(right.certificate.path)';
            ALTER SYSTEM SET ssl_key_file = '\(right.key.path)';
            ALTER SYSTEM SET ssl = on;
            """
        )
        try await server.restart()

        let url = server.url() + "?sslmode=verify-full&sslrootcert="
        for other in [wrong.certificate.path, "/nowhere/root.crt"] {
            let error = await #expect(throws: StorageError.self) {
                try await PostgresDatabase(connecting: url + other, options: .patient())
            }
            #expect(error?.code == .unreachable)
        }
        // The certificate is valid for the address but not for the name.
        let named = url.replacingOccurrences(of: "@127.0.0.1:", with: "@localhost:")
        await #expect(throws: StorageError.self) {
            try await PostgresDatabase(connecting: named + right.certificate.path, options: .patient())
        }

        let engine = try await PostgresStorageEngine(
            connecting: url + right.certificate.path + "&application_name=encrypted", collection: "notes",
            options: .patient())
        let value = Data(repeating: 7, count: 3 << 20)
        try await engine.write(value, key: CacheKey("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let read = try await engine.fetch(key: CacheKey("a"))
                    #expect(read == value)
                }
            }
            try await group.waitForAll()
        }
        try await engine.write((0..<5_000).map { (CacheKey("\($0)"), Data(count: 100)) })
        #expect(try await engine.fetchCount() == 5_001)
        let unencrypted = """
            SELECT count(*) FILTER (WHERE NOT ssl), count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'encrypted'
            """
        #expect(try await server.sql(unencrypted) == "0|t")
        engine.database.disconnect()
    }
}
#endif
