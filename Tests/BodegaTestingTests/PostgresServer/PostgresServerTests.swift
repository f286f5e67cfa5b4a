#if Postgres
import Foundation
import TestSupport
import Testing

/// The limit is minutes, because the machine may be busy.
@Suite
struct PostgresServerTests {

    @Test("Tests share a server and have databases of their own")
    func databases() async throws {
        let server = try await PostgresServer.shared()
        #expect(try await PostgresServer.shared() === server)
        let (one, other) = (try await server.makeDatabase(), try await server.makeDatabase())
        try await one.sql("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)")
        #expect(try await one.sql("SELECT count(*), sum(a) FROM t") == "2|3")
        #expect(try await other.sql("SELECT count(*) FROM pg_tables WHERE tablename = 't'") == "0")
        #expect(try await one.sql("SHOW fsync") == "on")
        let failure = try await #require(throws: PostgresServerError.self) { try await one.sql("SELECT nonsense") }
        #expect(failure.description.contains("nonsense"))
    }

    @Test("A server survives a stop, a crash and a pause with what was committed")
    func control() async throws {
        let server = try await PostgresServer.launch()
        try await server.sql("CREATE TABLE t (a int)")
        try await server.sql("INSERT INTO t VALUES (1)")
        try await server.restart()
        try await server.sql("INSERT INTO t VALUES (2)")
        try await server.restart(.immediate)
        try await server.sql("INSERT INTO t VALUES (3)")
        try await server.kill()
        #expect(await !server.isRunning)
        #expect(try await !server.isReady())
        try await server.start()
        #expect(try await server.sql("SELECT string_agg(a::text, ',' ORDER BY a) FROM t") == "1,2,3")

        try await server.pause()
        async let answer = server.sql("SELECT count(*) FROM t")
        #expect(await server.isRunning)
        try await server.resume()
        #expect(try await answer == "3")
        try await server.pause()
        try await server.remove()
        #expect(!FileManager.default.fileExists(atPath: server.socketFolder.path))
    }

    @Test("A standby has what its primary acknowledged, and takes over", arguments: [true, false])
    func replication(isSynchronous: Bool) async throws {
        let primary = try await PostgresServer.launch()
        try await primary.sql("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        let standby = try await primary.addStandby(isSynchronous: isSynchronous)
        #expect(try await standby.sql("SELECT a FROM t") == "1")
        try await primary.sql("INSERT INTO t VALUES (2)")
        if !isSynchronous {
            try await waitUntil("the standby had it") { try await standby.sql("SELECT count(*) FROM t") == "2" }
        }
        try await primary.kill()
        try await standby.promote()
        #expect(try await standby.sql("SELECT string_agg(a::text, ',' ORDER BY a) FROM t") == "1,2")
        try await standby.sql("INSERT INTO t VALUES (3)")
    }

    @Test(
        """
        The programs are found in PATH, by pg_config and where packages put them; otherwise the error says what to \
        install
        """
    )
    func programs() throws {
        let found = try PostgresPrograms.find()
        #expect(try PostgresPrograms.find(path: found.folder.path, others: []).folder.path == found.folder.path)
        #expect(try PostgresPrograms.find(path: "", others: [found.folder]).folder.path == found.folder.path)

        let folder = TemporaryFolder()
        let config = folder.file("pg_config")
        try Data("#!/bin/sh\necho '\(found.folder.path)'\n".utf8).write(to: config)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: config.path)
        #expect(try PostgresPrograms.find(path: folder.path, others: []).folder.path == found.folder.path)

        let failure = #expect(throws: PostgresServerError.self) {
            try PostgresPrograms.find(path: "/nowhere", others: [])
        }
        #expect(failure?.description.contains("apt-get install postgresql") == true)
        #expect(failure?.description.contains("brew install postgresql") == true)
    }

    @Test(
        "A server ends with the process that started it, even if that is killed",
        arguments: [SIGKILL, SIGTERM, SIGSTOP])
    func watchdog(signal: Int32) async throws {
        let child = try ServerProcess()
        let place = try await child.place()
        #expect(FileManager.default.fileExists(atPath: place.socketFolder))
        let server = try #require(Int32(firstLine(of: place.socketFolder + "/data/postmaster.pid")))
        if signal == SIGSTOP {
            // Here the server is already stopped when the process that started it is killed.
            kill(server, SIGSTOP)
            child.end(with: SIGKILL)
        } else {
            child.end(with: signal)
        }
        try await waitUntil("the server's folder was gone") {
            !FileManager.default.fileExists(atPath: place.socketFolder)
        }
        try await waitUntil("the server was gone") { kill(server, 0) != 0 || isZombie(server) }
    }

    private func firstLine(of path: String) throws -> String {
        String(try String(contentsOfFile: path, encoding: .utf8).prefix { $0 != "\n" })
    }

    /// Whether a process has ended without being reaped. On a system whose first process doesn't reap, it remains a
    /// zombie.
    private func isZombie(_ process: Int32) -> Bool {
        guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return line.contains(") Z ")
    }
}
#endif
