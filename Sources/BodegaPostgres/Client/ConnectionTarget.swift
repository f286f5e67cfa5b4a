#if Postgres
import Bodega
import CPostgres
import Foundation

/// The servers and settings of a connection string, completed from libpq's other sources.
///
/// It holds secrets. Its description omits them.
struct ConnectionTarget: Sendable, CustomStringConvertible {

    /// A server to connect to.
    struct Host: Sendable, Hashable {
        var name: String
        var address: String
        var port: String

        /// Whether a connection stays on this machine.
        var isLocal: Bool {
            let place = address.isEmpty ? name : address
            return place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") || place == "localhost"
                || Self.isLoopback(place)
        }

        /// Whether a text is a loopback address. A name such as 127.example.com is not.
        private static func isLoopback(_ text: String) -> Bool {
            var four = in_addr()
            if inet_pton(AF_INET, text, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
            var six = in6_addr()
            return inet_pton(AF_INET6, text, &six) == 1
                && withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
    }

    let hosts: [Host]
    private let connectionString: String
    private let settings: [(keyword: String, value: String)]
    /// The values that must not appear in any text.
    let secrets: [String]

    /// Parses a connection string.
    ///
    /// - Parameter connectionString: A URL such as `postgres://user@host/database`, or libpq's `keyword=value` form, or
    ///   the empty string. Missing settings come from the `PG…` variables, the service file and the pass file.
    /// - Throws: A ``/Bodega/StorageError`` with ``/Bodega/StorageError/Code/invalidArgument``; it does not quote the
    ///   string.
    init(_ connectionString: String) throws {
        let given = try Self.parse(connectionString)
        try Self.check(given)
        let resolved = try Self.resolve(connectionString, hiding: Self.secrets(in: given))
        self.connectionString = connectionString
        // The longest first: a shorter one may be a substring of it.
        secrets = Set(Self.secrets(in: given) + Self.secrets(in: resolved)).sorted { $0.utf8.count > $1.utf8.count }
        hosts = try Self.hosts(in: resolved)
        let environment = ProcessInfo.processInfo.environment
        var settings = [("client_encoding", "UTF8")]
        if (resolved["application_name"] ?? "").isEmpty { settings.append(("application_name", "emporium")) }
        if hosts.count > 1, given["target_session_attrs"] == nil, environment["PGTARGETSESSIONATTRS"] == nil,
            resolved["target_session_attrs"] == "any"
        {
            settings.append(("target_session_attrs", "read-write"))
        }
        // libpq's default, "prefer", accepts any server. The same value from a service file is indistinguishable from
        // the default, and replaced, too.
        let choosesSecurity = given["sslmode"] != nil || environment["PGSSLMODE"] != nil
        if !choosesSecurity, resolved["sslmode"] == "prefer", !hosts.allSatisfy(\.isLocal) {
            settings.append(("sslmode", "verify-full"))
            if (resolved["sslrootcert"] ?? "").isEmpty, let authorities = TrustedAuthorities.setting() {
                settings.append(("sslrootcert", authorities))
            }
        }
        self.settings = settings
    }

    var description: String {
        hosts.map { "\($0.name.isEmpty ? $0.address : $0.name):\($0.port)" }.joined(separator: ", ")
    }

    /// The settings for one of the hosts, in the order of libpq: a later value overrides an earlier one.
    func settings(for host: Host) -> [(keyword: String, value: String)] {
        [("dbname", connectionString), ("host", host.name), ("hostaddr", host.address), ("port", host.port)] + settings
    }

    /// The settings in the string itself.
    private static func parse(_ connectionString: String) throws -> [String: String] {
        // libpq would ignore the rest.
        if connectionString.utf8.contains(0) { throw invalid("Remove the NUL character.") }
        let schemes = ["postgres://", "postgresql://"]
        if let scheme = schemes.first(where: { connectionString.utf8.starts(with: $0.utf8) }) {
            try check(url: Array(connectionString.utf8.dropFirst(scheme.utf8.count)))
        } else if !connectionString.isEmpty, !connectionString.contains("=") {
            throw invalid("Begin it with \"postgres://\", or write settings such as \"host=localhost\".")
        }
        // libpq's error message may quote the password.
        guard let options = PQconninfoParse(connectionString, nil) else {
            throw invalid("Check its syntax, and write special characters with \"%\".")
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }

    /// Rejects a URL that libpq would read differently from its author: libpq would take the rest of an unescaped
    /// password for a host, a port or a database, and look it up or quote it in an error.
    private static func check(url rest: [UInt8]) throws {
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let others = rest.dropFirst(authority.count)
        let places = authority.indices.filter { authority[$0] == UInt8(ascii: "@") }
        if places.count > 1 { throw invalid("Write \"@\" in the user's name or password as \"%40\".") }
        if let place = places.first, authority[..<place].contains(UInt8(ascii: "?")) {
            throw invalid("Write \"?\" in a password as \"%3F\", and \"@\" after a \"?\" as \"%40\".")
        }
        let mayHavePassword = authority.contains { UInt8(ascii: ":") == $0 || UInt8(ascii: "%") == $0 }
        if mayHavePassword, others.contains(UInt8(ascii: "@")) {
            throw invalid("Write \"/\" in a password as \"%2F\", and \"@\" after a \"/\" as \"%40\".")
        }
    }

    /// Rejects settings that libpq quotes in errors and that may contain a part of an unescaped password.
    private static func check(_ settings: [String: String]) throws {
        if settings["user"]?.utf8.contains(UInt8(ascii: ":")) == true {
            throw invalid("The user's name has a colon. Write the colon before the password as \":\", not as \"%3A\".")
        }
        let ports = (settings["port"] ?? "").split(separator: ",")
        guard ports.allSatisfy({ UInt16($0.trimmingCharacters(in: .whitespaces)) != nil }) else {
            throw invalid("A port is not a number up to 65535. An \"@\" may be missing after the password.")
        }
        for host in (settings["host"] ?? "").split(separator: ",") {
            let isPath = host.utf8.first == UInt8(ascii: "/") || host.utf8.first == UInt8(ascii: "@")
            if isPath || !host.utf8.contains(where: ":@".utf8.contains) { continue }
            var six = in6_addr()
            let address = host.prefix { $0 != "%" }
            guard inet_pton(AF_INET6, String(address), &six) == 1 else {
                throw invalid("A host's name has a colon or an \"@\". Escape it if it belongs to a password.")
            }
        }
        // libpq would send it as a name, and the server would quote it in an error.
        let database = settings["dbname"] ?? ""
        if database.utf8.contains(UInt8(ascii: "=")) || database.contains("://") {
            throw invalid("The name of the database is a connection string. Pass that string by itself.")
        }
    }

    /// The values of the settings that are passwords and other secrets.
    private static func secrets(in settings: [String: String]) -> [String] {
        settings.filter { name, value in
            !value.isEmpty && ["password", "secret", "scram_"].contains(where: name.contains)
        }.map(\.value)
    }

    /// The settings, completed from all other sources: variables, service file, pass file, defaults.
    ///
    /// libpq reports them only for a connection. The setting `channel_binding=none` is invalid, so that libpq stops
    /// after it has gathered all settings, before it connects.
    private static func resolve(_ connectionString: String, hiding secrets: [String]) throws -> [String: String] {
        let connection = withSettings([("dbname", connectionString), ("channel_binding", "none")]) {
            PQconnectStartParams($0, $1, 1)
        }
        guard let connection else { throw outOfMemory }
        defer { PQfinish(connection) }
        let message = String(cString: PQerrorMessage(connection))
        guard message.contains("channel_binding") else {
            throw invalid(hiding(secrets + [String(cString: PQpass(connection))], in: message))
        }
        guard let options = PQconninfo(connection) else { throw outOfMemory }
        defer { PQconninfoFree(options) }
        try checkValues(connectionString, hiding: secrets + [String(cString: PQpass(connection))])
        return values(of: options)
    }

    /// Lets libpq check the values of all settings, which it does before it connects. The address is none, which libpq
    /// reports only if it accepts the settings.
    private static func checkValues(_ connectionString: String, hiding secrets: [String]) throws {
        let address = "no-address-of-emporium"
        let settings = [("dbname", connectionString), ("host", address), ("hostaddr", address), ("port", "1")]
        let connection = withSettings(settings) { PQconnectStartParams($0, $1, 1) }
        guard let connection else { throw outOfMemory }
        defer { PQfinish(connection) }
        let message = String(cString: PQerrorMessage(connection))
        if PQstatus(connection) != CONNECTION_BAD || message.contains(address) { return }
        throw invalid(hiding(secrets, in: message))
    }

    private static func hiding(_ secrets: [String], in text: String) -> String {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        for secret in secrets where !secret.isEmpty { text = text.replacingOccurrences(of: secret, with: "•••") }
        return text
    }

    private static func hosts(in settings: [String: String]) throws -> [Host] {
        func list(_ name: String) -> [String] {
            let value = settings[name] ?? ""
            return value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count, 1)
        guard [names.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }),
            [0, 1, count].contains(ports.count)
        else { throw invalid("Give the same number of hosts, addresses and ports.") }
        return (0..<count).map { index in
            Host(
                name: names.isEmpty ? "" : names[index],
                address: addresses.isEmpty ? "" : addresses[index],
                port: ports.isEmpty ? "5432" : ports[ports.count == 1 ? 0 : index]
            )
        }
    }

    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return values
    }

    private static var outOfMemory: StorageError {
        StorageError(.inputOutput, "libpq could not allocate memory. Free memory and try again.")
    }

    private static func invalid(_ hint: String) -> StorageError {
        StorageError(.invalidArgument, "The connection string is invalid. \(hint)")
    }
}

/// Calls a closure with settings in libpq's form: two lists that end with NULL.
func withSettings<Result>(
    _ settings: [(keyword: String, value: String)],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let keywords = settings.map { strdup($0.keyword) }
    let values = settings.map { strdup($0.value) }
    defer { for text in keywords + values { free(text) } }
    let keywordList = keywords.map { UnsafePointer($0) } + [nil]
    let valueList = values.map { UnsafePointer($0) } + [nil]
    return keywordList.withUnsafeBufferPointer { keywords in
        valueList.withUnsafeBufferPointer { values in
            guard let keywords = keywords.baseAddress, let values = values.baseAddress else {
                preconditionFailure("A list with a terminator is not empty.")
            }
            return body(keywords, values)
        }
    }
}
#endif
