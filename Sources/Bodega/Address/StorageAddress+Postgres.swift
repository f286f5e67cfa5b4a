import Foundation

extension StorageAddress {

    /// The address of a collection in a PostgreSQL database, which `BodegaPostgres` opens.
    ///
    /// - Parameters:
    ///   - url: The connection URL, such as `postgres://user@host/database`, used unchanged.
    ///   - collection: The collection's name, used unchanged; `nil` for the unnamed one.
    public static func postgres(_ url: String, collection: String? = nil) -> StorageAddress {
        StorageAddress(engine: .postgres, path: "", collection: collection, connection: ConnectionURL(text: url))
    }

    /// The connection URL of a PostgreSQL database, unchanged and without the collection; `nil` for other engines.
    ///
    /// Unlike ``description``, it may contain a password.
    public var connectionURL: String? { engine == .postgres ? connection?.text : nil }

    /// The schemes that libpq accepts.
    static let postgresSchemes = ["postgres:", "postgresql:"]

    /// Parses an address of a PostgreSQL database.
    ///
    /// - Returns: `nil` if the text has another scheme.
    /// - Throws: A ``StorageError`` that does not quote the text, which may contain a password.
    static func parse(postgres text: String) throws -> StorageAddress? {
        let scalars = text.unicodeScalars
        guard let scheme = postgresSchemes.first(where: { scalars.after($0) != nil }) else {
            if mayHoldSecret(text) { throw StorageError(.invalidArgument, suspectedSecret) }
            return nil
        }
        guard scalars.after(scheme + "//") != nil else {
            throw StorageError(
                .invalidArgument,
                "The address of a PostgreSQL database lacks //. Write postgres://USER@HOST/DATABASE#COLLECTION."
            )
        }
        let bytes = Array(text.utf8)
        if let mark = bytes.lastIndex(of: UInt8(ascii: "#")), bytes[mark...].contains(UInt8(ascii: "@")) {
            // The # may belong to a password, which would be taken for a collection's name and shown.
            throw StorageError(
                .invalidArgument,
                "A # precedes an @. Write %23 for a # in a password, and %40 for an @ in a collection's name."
            )
        }
        let (url, collection) = try split(text[...], in: scheme)
        if ConnectionURL(text: url).hasPasswordForPort { throw StorageError(.invalidArgument, suspectedSecret) }
        return .postgres(url, collection: collection)
    }

    private static let suspectedSecret = """
        The store's address looks like that of a database and may contain a password, so it is not shown here. Write \
        the address of a PostgreSQL database as postgres://USER@HOST/DATABASE#COLLECTION, and a path as sqlite:PATH \
        or disk:PATH.
        """

    /// Whether a text that is not the address of a database may be intended as one and contain a password.
    ///
    /// This is false for the name of an existing file or folder.
    package static func mayHoldSecret(_ text: String) -> Bool {
        guard looksSecret(text) else { return false }
        let path = text.utf8.lastIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
        do {
            return try [text, path].allSatisfy { try StoreNature(ofPath: $0) == .missing }
        } catch {
            // The error quotes the text, which can't be opened as a path in any case.
            return true
        }
    }

    private static func looksSecret(_ text: String) -> Bool {
        let bytes = text.lowercased().utf8.filter { $0 > UInt8(ascii: " ") }
        if postgresSchemes.contains(where: { bytes.starts(with: $0.utf8) }) { return true }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let isURL = bytes[colon...].starts(with: "://".utf8)
        if !isURL, localEngines.contains(where: { $0.rawValue.utf8.elementsEqual(bytes[..<colon]) }) { return false }
        if let scheme = serverScheme(of: String(decoding: bytes, as: UTF8.self)) {
            // A query, which may have a token, or a user.
            let url = bytes.lastIndex(of: UInt8(ascii: "#")).map { bytes[..<$0] } ?? bytes[...]
            return url.contains(UInt8(ascii: "?")) || bytes.dropFirst(scheme.utf8.count).contains(UInt8(ascii: "@"))
                || hasTextForPort(bytes.dropFirst(scheme.utf8.count).drop { $0 == UInt8(ascii: "/") })
        }
        // Settings such as password=…, alone or among the parameters of a URL.
        let words = String(decoding: bytes, as: UTF8.self)
        return bytes[colon...].contains(UInt8(ascii: "@"))
            || ["password=", "passwd=", "pwd=", "secret="].contains(where: words.contains)
    }

    /// Whether a host has another text than a port after it, which may be the password of a user.
    private static func hasTextForPort(_ bytes: some Collection<UInt8>) -> Bool {
        let authority = Array(bytes.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") })
        // The address of a host in brackets has colons of its own.
        let host = authority.first == UInt8(ascii: "[") ? authority.firstIndex(of: UInt8(ascii: "]")) ?? 0 : 0
        guard let colon = authority[host...].firstIndex(of: UInt8(ascii: ":")) else { return false }
        return !authority[(colon + 1)...].allSatisfy { (0x30...0x39).contains($0) }
    }
}
