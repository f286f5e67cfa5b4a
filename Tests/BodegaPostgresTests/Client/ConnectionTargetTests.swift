#if Postgres
import Bodega
import Foundation
import Testing

@testable import BodegaPostgres

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite struct ConnectionTargetTests {

    private func setting(_ keyword: String, _ text: String) throws -> String? {
        let target = try ConnectionTarget(text)
        return target.settings(for: target.hosts[0]).last { $0.keyword == keyword }?.value
    }

    @Test(arguments: [
        "postgres://localhost/a", "postgres://127.0.0.1/a", "postgres://127.9.8.7/a", "postgres://[::1]/a",
        "postgres://[0:0::1]/a", "postgres:///a?host=/run/postgresql",
        "host=localhost", "hostaddr=127.0.0.1 host=db.example.com",
    ])
    func `The connection string decides on encryption for a server on the same machine`(text: String) throws {
        #expect(try setting("sslmode", text) == nil)
    }

    @Test(arguments: [
        "postgres://db.example.com/a", "host=10.0.0.1", "postgres://localhost,db.example.com/a",
        "hostaddr=10.0.0.1 host=localhost", "postgres://127.example.com/a", "postgres://127.0.0.1.example.com/a",
    ])
    func `A server on another machine must prove its identity, unless the string says otherwise`(text: String) throws {
        #expect(try setting("sslmode", text) == "verify-full")
        let joined = text.hasPrefix("postgres") ? text + "?sslmode=require" : text + " sslmode=require"
        #expect(try setting("sslmode", joined) == nil)
    }

    @Test func `Of several hosts, the primary is used`() throws {
        let target = try ConnectionTarget("postgres://a,b:5433,c/x?port=5432,5433,5434")
        #expect(target.hosts.map(\.name) == ["a", "b", "c"])
        #expect(target.hosts.map(\.port) == ["5432", "5433", "5434"])
        #expect(try setting("target_session_attrs", "postgres://a,b/x") == "read-write")
        #expect(try setting("target_session_attrs", "postgres://a/x") == nil)
        #expect(try setting("target_session_attrs", "postgres://a,b/x?target_session_attrs=any") == nil)
    }

    @Test func `Settings of a service file are used and kept secret`() async {
        // Runs in another process, because it changes the environment.
        await #expect(processExitsWith: .success) {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("service-\(UUID().uuidString)")
            try Data("[mine]\nhost=db.example.com\nport=6000\npassword=s3rvice-secret\n".utf8).write(to: file)
            setenv("PGSERVICEFILE", file.path, 1)
            let target = try ConnectionTarget("service=mine")
            try FileManager.default.removeItem(at: file)
            precondition(target.hosts.map(\.name) == ["db.example.com"])
            precondition(target.hosts.map(\.port) == ["6000"])
            precondition(target.secrets.contains("s3rvice-secret"))
            precondition(!"\(target)".contains("s3rvice-secret"))
            precondition(target.settings(for: target.hosts[0]).contains { $0 == ("sslmode", "verify-full") })
        }
    }

    @Test(arguments: [
        "postgres://user:t0p-secret@ho st/a", "postgres://user:t0p-secret@host:port/a",
        "postgre://user:t0p-secret@host/a",
        "postgres://user:t0p@secret@host/a", "password=t0p-secret nonsense=1", "password='t0p-secret",
        "postgres://user:t0p-secret%zz@host/a", "postgres://user:t0p-secret@[::1/a",
        "postgres://user:t0p-secret@host/a?nonsense=t0p-secret", "postgres://user:t0p-secret@a,b:1,2,3/x?port=1,2",
        "password=t0p-secret sslmode=nonsense", "t0p-secret",
    ])
    func `An invalid connection string is rejected without being quoted`(text: String) {
        do {
            let target = try ConnectionTarget(text)
            #expect(!"\(target)".contains("t0p"), "\(target)")
        } catch {
            #expect((error as? StorageError)?.code == .invalidArgument)
            #expect(!"\(error)".contains("t0p"), "\(error)")
            #expect(!"\(error)".contains("secret"), "\(error)")
        }
    }

    @Test(arguments: [
        "sslmode=nonsense", "postgres://localhost/a?sslmode=prefered", "target_session_attrs=nonsense",
        "postgres://localhost/a?gssencmode=nonsense", "ssl_min_protocol_version=nonsense", "channel_binding=nonsense",
        "host=a,b hostaddr=127.0.0.1,127.0.0.2 sslmode=prefered",
    ])
    func `A setting with an unknown value is an invalid argument`(text: String) throws {
        let error = #expect(throws: StorageError.self) { try ConnectionTarget(text) }
        #expect(error?.code == .invalidArgument)
        let name = try #require(text.split { " ?=".contains($0) }.dropLast().last)
        #expect(error?.message.contains(name) == true)
    }

    @Test(arguments: [
        "host=a,b hostaddr=127.0.0.1,127.0.0.2 sslmode=prefer", "postgres://[::1]:1,b:2/x?target_session_attrs=primary",
        "host=/run/postgresql sslmode=verify-full", "hostaddr=127.0.0.1 gssencmode=disable connect_timeout=3",
    ])
    func `Settings with values that libpq knows are accepted`(text: String) {
        #expect(throws: Never.self) { try ConnectionTarget(text) }
    }
}
#endif
