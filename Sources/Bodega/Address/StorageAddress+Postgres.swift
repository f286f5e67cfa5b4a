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
        guard let scheme = postgresSchemes.first(where: { scalars.after($0) != nil }) else {
            if mayHoldSecret(text) { throw StorageError(.invalidArgument, unquotable) }
            return nil
        }
        guard scalars.after(scheme + "//") != nil else {
            throw StorageError(
                .invalidArgument,
                "A PostgreSQL database is addressed by a URL: postgres://USER@HOST/DATABASE#COLLECTION."
            )
        }
        let bytes = Array(text.utf8)
        if let mark = bytes.lastIndex(of: UInt8(ascii: "#")), bytes[mark...].contains(UInt8(ascii: "@")) {
            // It may be a password's, which would be taken for a part of the address that can be shown.
            throw StorageError(
                .invalidArgument,
                "A # stands before an @. Write %23 for it in a password, and %40 for an @ in a collection's name."
            )
        }
        let (url, collection) = try split(text[...], in: scheme)
        if ConnectionURL(text: url).hasPasswordForPort { throw StorageError(.invalidArgument, unquotable) }
        return .postgres(url, collection: collection)
    }

    private static let unquotable = """
        The store's address looks like that of a database, with a password perhaps, so it is not shown here. A PostgreSQL \
        database is addressed by postgres://USER@HOST/DATABASE#COLLECTION. Write a path as sqlite:PATH or disk:PATH.
        """

    /// Whether a text that is no address of a database may be meant for one, with a password in it.
    ///
    /// The name of a file or folder is meant for that.
    package static func mayHoldSecret(_ text: String) -> Bool {
        guard looksSecret(text) else { return false }
        let path = text.utf8.lastIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
        do {
            return try [text, path].allSatisfy { try StoreNature(ofPath: $0) == .missing }
        } catch {
            // The error quotes the text, and it can't be opened as a path in any case.
            return true
        }
    }

    private static func looksSecret(_ text: String) -> Bool {
        let bytes = text.lowercased().utf8.filter { $0 > UInt8(ascii: " ") }
        if postgresSchemes.contains(where: { bytes.starts(with: $0.utf8) }) { return true }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let isURL = bytes[colon...].starts(with: "://".utf8)
        if !isURL, Engine.allCases.contains(where: { $0.rawValue.utf8.elementsEqual(bytes[..<colon]) }) { return false }
        // Settings such as password=…, alone or among the parameters of a URL.
        let words = String(decoding: bytes, as: UTF8.self)
        return bytes[colon...].contains(UInt8(ascii: "@"))
            || ["password=", "passwd=", "pwd=", "secret="].contains(where: words.contains)
    }
}
