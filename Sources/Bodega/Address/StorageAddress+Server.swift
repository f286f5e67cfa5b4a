import Foundation

extension StorageAddress {

    /// The address of a collection of a server, which `BodegaRemote` opens.
    ///
    /// - Parameters:
    ///   - url: The URL of the server, such as `https://data.example.com`, used unchanged.
    ///   - collection: The collection's name, used unchanged; `nil` for the unnamed one.
    public static func server(_ url: String, collection: String? = nil) -> StorageAddress {
        StorageAddress(engine: .server, path: "", collection: collection, connection: ConnectionURL(text: url))
    }

    /// The URL of a server, unchanged and without the collection; `nil` for other engines.
    public var serverURL: String? { engine == .server ? connection?.text : nil }

    /// The scheme of a server's URL, in lower case and with its colon; `nil` if a text has another one or none.
    static func serverScheme(of text: String) -> String? {
        let beginning = String(decoding: text.utf8.prefix(6), as: UTF8.self).lowercased()
        return ["https:", "http:"].first { beginning.utf8.starts(with: $0.utf8) }
    }

    /// Parses an address of a server.
    ///
    /// - Returns: `nil` if the text has another scheme.
    /// - Throws: A ``StorageError`` that does not quote the text, which may contain a password or a token.
    static func parse(server text: String) throws -> StorageAddress? {
        guard let scheme = serverScheme(of: text) else { return nil }
        func invalid(_ message: String) -> StorageError {
            StorageError(.invalidArgument, "\(message) Write https://HOST/PATH#COLLECTION.")
        }
        guard text.utf8.dropFirst(scheme.utf8.count).starts(with: "//".utf8) else {
            throw invalid("The address of a server lacks //.")
        }
        // Also after a #, which may belong to a password.
        if text.utf8.contains(UInt8(ascii: "@")) {
            throw invalid(
                """
                The address of a server must not have a user or a password, because others may see it; and an @ in a \
                collection's name is written as %40.
                """)
        }
        let bytes = Array(text.utf8)
        let end = bytes.lastIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let url = String(decoding: bytes[..<end], as: UTF8.self)
        if url.utf8.contains(where: "?#".utf8.contains) {
            throw invalid(
                "The address of a server must not have a query, and a # in a collection's name is written as %23.")
        }
        let parsed = URL(string: url)
        guard let host = parsed?.host, !host.isEmpty, parsed?.port.map((1...65_535).contains) ?? true else {
            throw invalid("The address of a server has no valid host, or no valid port.")
        }
        return .server(url, collection: try split(text[...], in: scheme).collection)
    }
}
