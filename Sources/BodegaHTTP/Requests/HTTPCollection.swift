import Bodega
import Foundation

/// The addresses of a collection and its items.
struct HTTPCollection: Sendable {
    /// The address of the collection.
    let url: URL
    private let itemsEndWithSlash: Bool

    /// - Throws: A `StorageError` with the code `invalidArgument` if the address can't be that of a collection.
    init(_ url: URL, itemsEndWithSlash: Bool) throws {
        let url = url.absoluteURL
        guard ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false, url.fragment == nil
        else {
            throw StorageError(
                .invalidArgument, "The address of a collection begins with http:// or https:// and has no fragment.")
        }
        guard url.user == nil, url.password == nil else {
            // Errors and logs of other libraries would contain it.
            throw StorageError(
                .invalidArgument, "The address of a collection must not contain a password. Send a header instead.")
        }
        self.url = url
        self.itemsEndWithSlash = itemsEndWithSlash
    }

    /// The address of an item, whose last segment is that of its key.
    ///
    /// - Returns: `nil` if no item can have such a key.
    /// - Throws: The error of `segment(of:)`.
    func url(of key: CacheKey) throws -> URL? {
        guard let segment = try segment(of: key) else { return nil }
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw StorageError(.invalidArgument, "The address of the collection can't be divided into its parts.")
        }
        var path = components.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        components.percentEncodedPath = path + "/" + segment + (itemsEndWithSlash ? "/" : "")
        return components.url
    }

    /// Whether the identifier of an item is sent. It is not if it could be mistaken for several segments of a path, or
    /// for none, by servers that decode a path before they divide it.
    func canAddress(_ key: CacheKey) -> Bool {
        let isHostile = key.rawValue.utf8.contains { $0 < 0x20 || $0 == 0x7F || "/\\".utf8.contains($0) }
        return !isHostile && key.rawValue != "." && key.rawValue != ".."
    }

    /// The identifier of an item as one segment of a path, percent-encoded.
    ///
    /// - Returns: `nil` if no item can have such a key.
    /// - Throws: A `StorageError` with the code `invalidArgument` if the identifier is not sent.
    private func segment(of key: CacheKey) throws -> String? {
        guard key.kind == .hashed, !key.rawValue.isEmpty else { return nil }
        guard canAddress(key) else {
            throw StorageError(
                .invalidArgument,
                """
                The identifier can't be sent as part of an address: it contains slashes or control characters, or is \
                "." or "..".
                """,
                key: key)
        }
        var segment = ""
        for byte in key.rawValue.utf8 {
            let scalar = Unicode.Scalar(byte)
            segment += Self.unreserved.contains(scalar) ? String(scalar) : "%" + byte.hexadecimal.uppercased()
        }
        return segment
    }

    /// The address of the next page.
    ///
    /// - Returns: `nil` if it belongs to another server, which must not receive the headers.
    func url(ofPage reference: String, from page: URL) -> URL? {
        guard let url = URL(string: reference, relativeTo: page)?.absoluteURL,
            Self.origin(url) == Self.origin(self.url),
            url.user == nil, url.password == nil
        else { return nil }
        return url
    }

    /// An address without its query, which may contain secrets.
    static func description(of url: URL) -> String {
        let port = url.port.map { ":\($0)" } ?? ""
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return "\(url.scheme ?? "")://\(url.host ?? "")\(port)\(path)"
    }

    private static func origin(_ url: URL) -> [String] {
        let scheme = url.scheme?.lowercased() ?? ""
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        return [scheme, url.host?.lowercased() ?? "", "\(port)"]
    }

    /// The characters that a URL contains as they are: RFC 3986, section 2.3.
    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".unicodeScalars)
}
