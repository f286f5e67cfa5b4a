import Foundation

extension StorageAddress {

    /// The address of a collection in a PostgreSQL database, which `BodegaPostgres` opens.
    ///
    /// - Parameters:
    ///   - url: The connection URL, such as `postgres://user@host/database`, taken as it is.
    ///   - collection: The collection's name, taken as it is; `nil` for the unnamed one.
    public static func postgres(_ url: String, collection: String? = nil) -> StorageAddress {
        StorageAddress(engine: .postgres, path: "", collection: collection, connection: ConnectionURL(text: url))
    }

    /// The connection URL of a PostgreSQL database as it was written, without the collection; `nil` for other engines.
    ///
    /// It may hold a password. ``description`` doesn't.
    public var connectionURL: String? { connection?.text }

    /// The schemes that libpq knows.
    static let postgresSchemes = ["postgres:", "postgresql:"]

    /// Reads an address of a PostgreSQL database.
    ///
    /// - Returns: `nil` if the text has another scheme.
    /// - Throws: A ``StorageError`` that does not quote the text, in which a password may be.
    static func parse(postgres text: String) throws -> StorageAddress? {
        let scalars = text.unicodeScalars
        guard let scheme = postgresSchemes.first(where: { scalars.after($0) != nil }) else { return nil }
        guard scalars.after(scheme + "//") != nil else {
            throw StorageError(
                .invalidArgument,
                "A PostgreSQL database is addressed by a URL: postgres://USER@HOST/DATABASE#COLLECTION."
            )
        }
        if let mark = scalars.lastIndex(of: "#"), scalars[mark...].contains("@"), !scalars[..<mark].contains("@") {
            // It may be a password's, which would be taken for a part of the URL that can be shown.
            throw StorageError(
                .invalidArgument,
                "A # stands before an @. Write %23 for it in a password, and %40 for an @ in a collection's name."
            )
        }
        let (url, collection) = try split(text[...], in: scheme)
        return .postgres(url, collection: collection)
    }
}

/// A connection URL, which does not show its password by accident.
struct ConnectionURL: Sendable {
    let text: String

    /// The URL without what is secret in it.
    ///
    /// As libpq reads a URL, the user and the password are before the first `@` if no slash comes before that. What is left
    /// out here is also what looks like a password to a human, in a URL that libpq does not accept.
    var shown: String {
        // By code points, as libpq reads it: before a combining character, a : or @ is another character.
        let scalars = text.unicodeScalars
        guard let colon = scalars.firstIndex(of: ":"), let rest = scalars[colon...].after("://") else {
            return "postgres://"
        }
        let authority = rest.prefix { $0 != "/" }
        let end = authority.lastIndex(of: "@") ?? rest.prefix { $0 != "?" }.lastIndex(of: "@")
        let scheme = String(scalars[..<rest.startIndex])
        guard let end else { return scheme + Self.withoutSecrets(rest) }
        let user = rest[..<end].prefix { $0 != ":" && $0 != "/" }
        return scheme + String(user) + Self.withoutSecrets(rest[end...])
    }

    /// Leaves out the parameters that hold secrets.
    private static func withoutSecrets(_ text: Substring.UnicodeScalarView) -> String {
        guard let mark = text.firstIndex(of: "?") else { return String(text) }
        let parameters = text[text.index(after: mark)...].split(separator: "&")
        let harmless = parameters.filter { parameter in
            let name = String(parameter.prefix { $0 != "=" }).lowercased().unicodeScalars
            // An escape may hide one of the two.
            return !["password", "secret", "%"].contains { name.contains($0.unicodeScalars) }
        }
        return String(text[..<mark])
            + (harmless.isEmpty ? "" : "?" + harmless.map { String($0) }.joined(separator: "&"))
    }
}

extension ConnectionURL: CustomStringConvertible, CustomReflectable {
    var description: String { shown }
    var customMirror: Mirror { Mirror(self, children: [("shown", shown)]) }
}
