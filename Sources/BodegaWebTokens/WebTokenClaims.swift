#if WebTokens
import Bodega
import BodegaMessages
public import Foundation

/// What a JSON Web Token says, after its signature and its times have been verified; see RFC 7519, section 4.
public struct WebTokenClaims: Sendable {
    /// The issuer, `iss`.
    public let issuer: String
    /// The recipients, `aud`.
    public let audience: [String]
    /// The person or program that the token is for, `sub`.
    public let subject: String?
    /// When the token ends to be valid, `exp`.
    public let expiresAt: Date
    /// From when on it is valid, `nbf`.
    public let notBefore: Date?
    /// All claims as JSON, for a decoder.
    public let json: Data

    private let members: JSONMembers

    /// Returns a claim that is a text; `nil` if there is none, or if it is not a text.
    public subscript(name: String) -> String? { members[name]?.text }

    /// Decodes the claims.
    public func decode<Claims: Decodable>(_ type: Claims.Type = Claims.self) throws -> Claims {
        try JSONDecoder().decode(Claims.self, from: json)
    }

    /// Reads claims.
    ///
    /// - Throws: An error if they are no object of JSON, name a claim twice, or lack `iss`, `aud` or `exp`.
    init(_ json: Data) throws {
        self.json = json
        members = try JSONPart(json).members()
        issuer = try members.required("iss").string()
        let audience = try members.required("aud")
        self.audience = try audience.text.map { [$0] } ?? audience.elements().map { try $0.string() }
        subject = try members.string("sub")
        expiresAt = try members.required("exp").date()
        notBefore = try members["nbf"]?.date()
    }

    /// The claims without those that differ from token to token of one client.
    var identity: [String] {
        get throws {
            let changing: Set = ["exp", "nbf", "iat", "jti", "auth_time"]
            var lines: [String] = []
            try JSONPart(json).forEachMember { name, value in
                if !changing.contains(name) { lines.append("\(name)=\(value.data.base64EncodedString())") }
            }
            return lines.sorted()
        }
    }
}

extension JSONPart {
    /// A time as RFC 7519 has it: seconds since 1970, until the year 9999.
    fileprivate func date() throws -> Date {
        guard let seconds = number.flatMap({ Double($0) }), (0..<253_402_300_800).contains(seconds) else {
            throw error("a time")
        }
        return Date(timeIntervalSince1970: seconds)
    }
}
#endif
