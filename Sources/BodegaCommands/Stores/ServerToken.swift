import Bodega
import Foundation

/// The token for a server. It never comes from an argument, because lists of processes show arguments.
final class ServerToken: Sendable {
    /// The variable of the environment.
    static let variable = "BODEGA_TOKEN"

    private let file: String?
    private let latest: Locked<String>

    /// Reads the token of a file.
    init(file path: String) throws { (file, latest) = (path, Locked(try Self.read(file: path))) }

    /// Reads the token of the environment, `nil` if there is none.
    init?(_ environment: [String: String]) throws {
        guard let text = environment[Self.variable] else { return nil }
        (file, latest) = (nil, Locked(try Self.checked(text, from: "The variable \(Self.variable)")))
    }

    /// The token that was read last.
    var text: String { latest.withLock { $0 } }

    /// Reads the file again, after the server has refused the token.
    ///
    /// - Returns: Whether there is another token now.
    /// - Throws: A ``ToolError`` if the file can't be read. The token stays.
    func renew() throws -> Bool {
        guard let file else { return false }
        let text = try Self.read(file: file)
        return latest.withLock { latest in
            defer { latest = text }
            return text != latest
        }
    }

    private static func read(file path: String) throws -> String {
        let file = SecretFile(
            path: path, maximumSize: 1 << 16, kind: "token file", gives: "what the token gives the right to")
        return try checked(String(decoding: try file.read(), as: UTF8.self), from: path)
    }

    /// Checks a token, without quoting it.
    private static func checked(_ text: String, from source: String) throws -> String {
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            let what = token.isEmpty ? "is empty" : "does not contain one token on one line"
            throw ToolError(
                .failure, "\(source) \(what). Create a token where the server is: bodega token create STORE NAME")
        }
        return token
    }
}

extension StorageAddress {
    /// Whether two addresses are on one server, which may then see the token for either.
    func isOnServer(of other: StorageAddress) -> Bool {
        guard let own = origin, let others = other.origin else { return false }
        return own == others
    }

    /// The scheme, the host and the port of a server.
    private var origin: [String]? {
        guard let parts = serverURL.flatMap({ URLComponents(string: $0) }), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased()
        else { return nil }
        return [scheme, host, "\(parts.port ?? (scheme == "https" ? 443 : 80))"]
    }
}
