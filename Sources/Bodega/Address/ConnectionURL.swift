/// A connection URL whose descriptions omit its password.
struct ConnectionURL: Hashable, Sendable {
    let text: String

    /// The URL without its secrets, and without anything that may be one.
    ///
    /// libpq takes what precedes the first `@` for the user and the password, unless a slash comes before it. This also
    /// omits what looks like a password to a human in a URL that libpq reads differently or rejects. Like libpq, it
    /// compares bytes, so a combining character cannot hide a separator.
    var shown: String {
        if StorageAddress.serverScheme(of: text) != nil { return withoutUserAndQuery }
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

    /// The URL of a server without what it must not have.
    private var withoutUserAndQuery: String {
        let bytes = Array(text.utf8)
        guard let slashes = bytes.indices.first(where: { bytes[$0...].starts(with: "//".utf8) }) else {
            return "https://"
        }
        let rest = bytes[(slashes + 2)...]
        let host = rest.lastIndex(of: UInt8(ascii: "@")).map { rest[($0 + 1)...] } ?? rest
        return Self.text(bytes[..<(slashes + 2)]) + Self.text(host.prefix { !"?#".utf8.contains($0) })
    }

    /// The index of the `@` that ends the user and the password, `nil` if there is none.
    private static func endOfUser(in rest: ArraySlice<UInt8>) -> Int? {
        let head = rest.prefix { $0 != UInt8(ascii: "?") }
        let end = head.lastIndex(of: UInt8(ascii: "@"))
        // If there is a password, everything before the last @ may belong to it.
        return colon(in: head[..<(end ?? head.endIndex)]) == nil ? end : rest.lastIndex(of: UInt8(ascii: "@"))
    }

    /// The index of the first colon, escaped or not.
    private static func colon(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { index in
            bytes[index] == UInt8(ascii: ":") || text(bytes[index...].prefix(3)).lowercased() == "%3a"
        }
    }

    /// Whether a password seems to be in the place of a port, because no `@` follows it.
    var hasPasswordForPort: Bool {
        let bytes = Array(text.utf8)
        guard let slashes = bytes.indices.first(where: { bytes[$0...].starts(with: "//".utf8) }) else { return false }
        let rest = bytes[(slashes + 2)...]
        return Self.endOfUser(in: rest) == nil && Self.strayColon(in: rest) != nil
    }

    /// The hosts, the database and the parameters, without anything that may be a password.
    private static func place(_ rest: ArraySlice<UInt8>) -> String {
        strayColon(in: rest).map { text(rest[..<$0]) } ?? withoutSecrets(rest)
    }

    /// The index of a colon that no port follows, such as the colon of a password without an `@`.
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

    /// Omits the parameters that hold secrets, and those that libpq does not know.
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
