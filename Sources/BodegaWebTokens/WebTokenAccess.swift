#if WebTokens
import Bodega
import BodegaMessages
public import BodegaServer
import Crypto
public import Foundation

/// An access with JSON Web Tokens (RFC 7519) that another service issues, such as one for sign-in.
///
/// ```swift
/// let keys = try await WebTokenKey.keys(inSet: keySet, algorithms: [.es256])
/// let access = WebTokenAccess(keys: keys, issuer: "https://login.example.com", audience: "notes") { claims in
///     guard let subject = claims.subject else { return nil }
///     return StorageClient(id: subject, scopes: ["notes": StorageScope(where: "owner", equals: subject)])
/// }
/// ```
///
/// The recommendations of RFC 8725 are followed. A token is refused unless
/// - it has at most `maximumBytes` bytes, and its three parts are Base64 without padding and the header and the claims
///   JSON without repeated members;
/// - its `alg` is that of a key, which is never `none`, and its `kid`, if any, is the identifier of that key. Keys and
///   addresses in the header are ignored;
/// - its header demands no extensions (`crit`), and has no `typ` of another kind of token than those in `types`;
/// - the signature is valid;
/// - it has the issuer and the audience;
/// - it has an end (`exp`) that is not over, and its beginning (`nbf`) has come.
///
/// A token can't be revoked before its end, so its issuer should give it a short life. Streams end with their tokens.
public struct WebTokenAccess: StorageAccess {
    private let keys: [WebTokenKey]
    private let issuer: ExactText
    private let audience: ExactText
    private let types: Set<String>
    private let maximumBytes: Int
    private let leeway: TimeInterval
    private let now: @Sendable () -> Date
    private let client: @Sendable (WebTokenClaims) async throws -> StorageClient?

    /// Creates an access.
    ///
    /// - Parameters:
    ///   - keys: The keys that verify signatures.
    ///   - issuer: The issuer that a token must have.
    ///   - audience: The audience that a token must have, alone or among others: this server.
    ///   - types: The values of `typ` in the header that are accepted, in lower case and without `application/`. With
    ///     `jwt` in it, a token needs no `typ`.
    ///   - maximumBytes: The maximum number of bytes of a token; by default 8,192. The server accepts headers of up to
    ///     16,384.
    ///   - leeway: The number of seconds by which the clocks of the issuer and the server may differ; by default 30.
    ///   - now: Returns the current time.
    ///   - client: Returns what the client with a valid token may see and do; `nil` if nothing. It is called for each
    ///     request, and must return equal scopes for equal claims. Clients with other claims get other identifiers, so
    ///     that none gets the view of another one.
    public init(
        keys: [WebTokenKey], issuer: String, audience: String, types: Set<String> = ["jwt", "at+jwt"],
        maximumBytes: Int = 8_192, leeway: TimeInterval = 30, now: @escaping @Sendable () -> Date = { Date() },
        client: @escaping @Sendable (WebTokenClaims) async throws -> StorageClient?
    ) {
        (self.keys, self.issuer, self.audience) = (keys, ExactText(issuer), ExactText(audience))
        (self.types, self.maximumBytes, self.leeway) = (types, maximumBytes, leeway)
        (self.now, self.client) = (now, client)
    }

    public func client(bearing token: String?) async throws -> StorageClient? {
        guard let token, let claims = verified(token), var client = try await client(claims) else { return nil }
        let identity = try JSONEncoder().encode(claims.identity)
        let digest = SHA256.hash(data: identity).prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        client.id += "." + digest.joined()
        let end = claims.expiresAt.addingTimeInterval(leeway)
        client.expiresAt = client.expiresAt.map { min($0, end) } ?? end
        return client
    }

    /// The claims of a token; `nil` if it is not valid for any reason.
    private func verified(_ token: String) -> WebTokenClaims? {
        guard token.utf8.count <= maximumBytes else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Data(base64URL: parts[0]), let payload = Data(base64URL: parts[1]),
            let signature = Data(base64URL: parts[2]), !signature.isEmpty
        else { return nil }
        let signed = Data((parts[0] + "." + parts[1]).utf8)
        // A token that can't be read is not valid, and the client does not get to know why.
        guard let keys = try? candidates(header), keys.contains(where: { $0.verifies(signature, of: signed) }),
            let claims = try? WebTokenClaims(payload)
        else { return nil }
        let now = now()
        guard ExactText(claims.issuer) == issuer, claims.audience.contains(where: { ExactText($0) == audience }),
            claims.expiresAt.addingTimeInterval(leeway) > now,
            claims.notBefore.map({ $0.addingTimeInterval(-leeway) <= now }) ?? true
        else { return nil }
        return claims
    }

    /// The keys that a header names.
    private func candidates(_ header: Data) throws -> [WebTokenKey] {
        let members = try JSONPart(header).members()
        let algorithm = try members.required("alg").string()
        let id = try members.string("kid").map { ExactText($0) }
        guard members["crit"] == nil else { return [] }
        var type = try members.string("typ")?.lowercased() ?? "jwt"
        if type.hasPrefix("application/") { type.removeFirst("application/".count) }
        guard types.contains(type) else { return [] }
        return keys.filter { key in
            key.algorithm.rawValue == algorithm && (id == nil || key.id.map { ExactText($0) } == id)
        }
    }
}

extension Data {
    /// Reads Base64 for addresses, without padding; see RFC 4648, section 5. Each value has one form only.
    fileprivate init?(base64URL text: Substring) {
        var bytes = Array(text.utf8)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "-"): bytes[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): bytes[index] = UInt8(ascii: "/")
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: break
            }
        }
        bytes += [UInt8](repeating: UInt8(ascii: "="), count: (4 - bytes.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(bytes)), data.base64EncodedData() == Data(bytes) else { return nil }
        self = data
    }
}
#endif
