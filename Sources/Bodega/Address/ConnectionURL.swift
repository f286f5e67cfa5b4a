/// A connection URL, which does not show its password by accident.
struct ConnectionURL: Hashable, Sendable {
    let text: String

    /// The URL without what is secret in it, or may be.
    ///
    /// As libpq reads a URL, the user and the password are before the first `@` if no slash comes before that. What is
    /// left out here is also what looks like a password to a human, in a URL that libpq reads in another way or does not
    /// accept. Bytes are looked at, as libpq does: a combining character hides none of them.
    var shown: String {
        let bytes = Array(text.utf8)
        guard let slashes = bytes.indices.first(where: { bytes[$0...].starts(with: "//".utf8) }) else {
            return "postgres://"
        }
        let scheme = Self.text(bytes[..<(slashes + 2)])
        let rest = bytes[(slashes + 2)...]
        guard let end = Self.endOfUser(in: rest) else { return scheme + Self.place(rest) }
        let user = rest[..<(Self.colon(in: rest[..<end]) ?? end)].prefix { !"/?#".utf8.contains($0) }
        return scheme + Self.text(user) + Self.place(rest[end...])
    }

    /// Where the `@` is that ends the user and the password, `nil` if there is none.
    private static func endOfUser(in rest: ArraySlice<UInt8>) -> Int? {
        let head = rest.prefix { $0 != UInt8(ascii: "?") }
        let end = head.lastIndex(of: UInt8(ascii: "@"))
        // With a password, whatever comes before an @ may be a part of it.
        return colon(in: head[..<(end ?? head.endIndex)]) == nil ? end : rest.lastIndex(of: UInt8(ascii: "@"))
    }

    /// Where the first colon is, as it is or escaped.
    private static func colon(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { index in
            bytes[index] == UInt8(ascii: ":") || text(bytes[index...].prefix(3)).lowercased() == "%3a"
        }
    }

    /// Whether a password seems to be where a port should be, because there is no `@` behind it.
    var hasPasswordForPort: Bool {
        let bytes = Array(text.utf8)
        guard let slashes = bytes.indices.first(where: { bytes[$0...].starts(with: "//".utf8) }) else { return false }
        let rest = bytes[(slashes + 2)...]
        return Self.endOfUser(in: rest) == nil && Self.strayColon(in: rest) != nil
    }

    /// The hosts, the database and the parameters, without what may be a password in them.
    private static func place(_ rest: ArraySlice<UInt8>) -> String {
        strayColon(in: rest).map { text(rest[..<$0]) } ?? withoutSecrets(rest)
    }

    /// Where a colon is behind which no port comes, such as that of a password without an `@`.
    private static func strayColon(in rest: ArraySlice<UInt8>) -> Int? {
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        for host in authority.split(separator: UInt8(ascii: ",")) {
            let isBracketed = host.first == UInt8(ascii: "[") || host.starts(with: "@[".utf8)
            let end = isBracketed ? host.firstIndex(of: UInt8(ascii: "]")) : nil
            guard let colon = colon(in: end.map { host[$0...] } ?? host) else { continue }
            let isPort = host[colon] == UInt8(ascii: ":") && host[(colon + 1)...].allSatisfy { (48...57).contains($0) }
            if !isPort { return colon }
        }
        return nil
    }

    /// Leaves out the parameters that hold secrets, and those that libpq does not know.
    private static func withoutSecrets(_ rest: ArraySlice<UInt8>) -> String {
        guard let mark = rest.firstIndex(of: UInt8(ascii: "?")) else { return text(rest) }
        let parameters = rest[(mark + 1)...].split(separator: UInt8(ascii: "&")).map(text).filter { parameter in
            let name = parameter.utf8.prefix { $0 != UInt8(ascii: "=") }
            return harmlessParameters.contains(String(decoding: name, as: UTF8.self))
                && !["password", "secret"].contains(where: parameter.lowercased().contains)
        }
        return text(rest[..<mark]) + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }

    /// See https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
    private static let harmlessParameters: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "require_auth", "channel_binding", "connect_timeout",
        "client_encoding", "application_name", "fallback_application_name", "keepalives", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "tcp_user_timeout", "replication", "gssencmode", "sslmode",
        "sslnegotiation", "sslcompression", "sslcert", "sslkey", "sslcertmode", "sslrootcert", "sslcrl", "sslcrldir",
        "sslsni", "requirepeer", "ssl_min_protocol_version", "ssl_max_protocol_version", "min_protocol_version",
        "max_protocol_version", "krbsrvname", "gsslib", "gssdelegation", "service", "target_session_attrs",
        "load_balance_hosts",
    ]

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension ConnectionURL: CustomStringConvertible, CustomReflectable {
    var description: String { shown }
    var customMirror: Mirror { Mirror(self, children: [("shown", shown)]) }
}
