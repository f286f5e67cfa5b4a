#if Postgres
import Bodega
import BodegaTesting
import TestSupport
import Testing

@testable import BodegaPostgres

@Suite struct ConnectionSecretTests {

    @Test func `No part of a password appears in a text or as a host, for any malformed string`() throws {
        var generator = SeededGenerator(seed: Seed.current)
        var accepted = 0
        for _ in 0..<2_000 {
            let secret = HostileAddress(using: &generator)
            do {
                let target = try ConnectionTarget(secret.text)
                accepted += 1
                #expect(!secret.isShown(in: "\(target)"), "\(target) of \(secret), seed \(Seed.current)")
                for host in target.hosts {
                    #expect(
                        ["h", "127.0.0.1", "::1", ""].contains(host.name), "\(host) of \(secret), seed \(Seed.current)")
                    #expect(!secret.isShown(in: "\(host)"), "\(host) of \(secret), seed \(Seed.current)")
                }
            } catch {
                #expect(
                    (error as? StorageError)?.code == .invalidArgument, "\(error) of \(secret), seed \(Seed.current)")
                #expect(!secret.isShown(in: "\(error)"), "\(error) of \(secret), seed \(Seed.current)")
            }
        }
        // Some are valid.
        #expect(accepted > 50)
    }

    @Test(
        arguments: [
            ("postgres://app:p@ss/S3cret@host", "%40"), ("postgres://app:pa/S3cret@host", "%2F"),
            ("postgres://app:pa?S3cret@host", "%3F"), ("postgres://app%3Apa%40S3cret/d", "colon"),
            ("postgres://app%3AS3cret@host", "colon"), ("postgres://app:S3cret/d", "port"),
            ("postgres://app:p@\u{301}ss/S3cret@host", "%40"), ("postgres://app:S3cret\0@host", "NUL"),
            ("dbname='postgres://app:S3cret@host'", "database"), ("host=app:S3cret@host dbname=d", "colon"),
        ]
    )
    func `A string that libpq would read differently is rejected with a hint`(text: String, hint: String) {
        #expect { try ConnectionTarget(text) } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.code == .invalidArgument && error.message.contains(hint) && !"\(error)".contains("S3cret")
        }
    }

    @Test(arguments: [
        "postgres://app:p%40ss%2FS3cret@host", "host=host user=app password='p@ss/S3cret'",
        "postgres://app@host?password=p%40ss/S3cret", "host = host user = app password = p@ss/S3cret",
        #"host=host user=app password=p@ss/S\3cret"#,
    ])
    func `Escaped characters are decoded, and the password is kept secret`(text: String) throws {
        let target = try ConnectionTarget(text)
        #expect(target.secrets == ["p@ss/S3cret"])
        #expect(target.hosts.map(\.name) == ["host"])
        #expect(target.description == "host:5432")
    }

    @Test(arguments: [
        "postgres://u@h/d?application_name=a@b", "postgres://u@h,[::1]:6000/d", "postgres:///d?host=/run/postgresql",
        "postgres://%2Frun%2Fpostgresql/d", "host=@abstract", "host=fe80::1%eth0",
    ])
    func `Unusual valid strings are accepted`(text: String) throws {
        _ = try ConnectionTarget(text)
    }
}
#endif
