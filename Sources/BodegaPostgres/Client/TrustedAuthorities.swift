#if Postgres
import CPostgres
import Foundation

/// The certificate authorities that this system trusts.
enum TrustedAuthorities {

    /// The value for libpq's `sslrootcert`; `nil` for libpq's default, the file `~/.postgresql/root.crt`.
    static func setting() -> String? {
        let own = NSHomeDirectory() + "/.postgresql/root.crt"
        if FileManager.default.fileExists(atPath: own) { return nil }
        // Version 16 of libpq introduced "system".
        if PQlibVersion() >= 160_000 { return "system" }
        return bundles.first { FileManager.default.isReadableFile(atPath: $0) }
    }

    /// The bundles of Debian and Alpine, Fedora, openSUSE, macOS and the BSDs.
    private static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
}
#endif
