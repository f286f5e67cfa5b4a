#if WebTokens
import Bodega
import BodegaMessages
import Crypto
public import Foundation
import JWTKit

/// An algorithm of signatures; see RFC 7518, section 3.1, and RFC 8037.
public enum WebTokenAlgorithm: String, CaseIterable, Sendable {
    /// HMAC with a secret that both sides have.
    case hs256 = "HS256"
    /// HMAC with SHA-384.
    case hs384 = "HS384"
    /// HMAC with SHA-512.
    case hs512 = "HS512"
    /// RSA with the padding of PKCS #1 v1.5 and SHA-256.
    case rs256 = "RS256"
    /// RSA with the padding PSS and SHA-256.
    case ps256 = "PS256"
    /// ECDSA with the curve P-256 and SHA-256.
    case es256 = "ES256"
    /// ECDSA with the curve P-384 and SHA-384.
    case es384 = "ES384"
    /// Ed25519.
    case edDSA = "EdDSA"
}

/// A key that verifies JSON Web Tokens, with the only algorithm for which it is used.
///
/// A token chooses no algorithm: a signature with another one than that of the key is not valid.
public struct WebTokenKey: Sendable {
    /// The identifier, which a token names as `kid`; `nil` for tokens without one.
    public let id: String?
    /// The algorithm.
    public let algorithm: WebTokenAlgorithm

    private let verifier: any JWTAlgorithm

    /// Creates a key from a secret, for `HS256`, `HS384` and `HS512`.
    ///
    /// - Parameters:
    ///   - secret: Random bytes, at least as many as the algorithm's hash has. A password is not enough, because others
    ///     can guess it from a single token.
    ///   - algorithm: The algorithm.
    ///   - id: The identifier.
    /// - Throws: A `StorageError`: `invalidArgument` if the secret is shorter, or the algorithm is another one.
    public init(secret: Data, algorithm: WebTokenAlgorithm = .hs256, id: String? = nil) async throws {
        let lengths: [WebTokenAlgorithm: (bytes: Int, digest: DigestAlgorithm)] = [
            .hs256: (32, .sha256), .hs384: (48, .sha384), .hs512: (64, .sha512),
        ]
        guard let length = lengths[algorithm] else { throw Self.unfit(algorithm, "a secret") }
        guard secret.count >= length.bytes else {
            throw StorageError(
                .invalidArgument, "The secret for \(algorithm.rawValue) has less than \(length.bytes) bytes.")
        }
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: length.digest)
        try await self.init(keys, algorithm, id)
    }

    /// Creates a key from a public key in the form PEM.
    ///
    /// - Parameters:
    ///   - publicKey: The text, which begins with `-----BEGIN PUBLIC KEY-----`.
    ///   - algorithm: The algorithm, which must be one for such a key.
    ///   - id: The identifier.
    /// - Throws: A `StorageError`: `invalidArgument` if the text is no such key, or one of RSA with less than 2,048
    ///   bits.
    public init(publicKey: String, algorithm: WebTokenAlgorithm, id: String? = nil) async throws {
        let keys = JWTKeyCollection()
        do {
            switch algorithm {
            case .rs256: await keys.add(rsa: try Insecure.RSA.PublicKey(pem: publicKey), digestAlgorithm: .sha256)
            case .ps256: await keys.add(pss: try Insecure.RSA.PublicKey(pem: publicKey), digestAlgorithm: .sha256)
            case .es256: await keys.add(ecdsa: try ES256PublicKey(pem: publicKey))
            case .es384: await keys.add(ecdsa: try ES384PublicKey(pem: publicKey))
            case .edDSA: await keys.add(eddsa: try EdDSA.PublicKey(pem: publicKey))
            case .hs256, .hs384, .hs512: throw Self.unfit(algorithm, "a public key")
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw Self.unfit(algorithm, "this text, which is no public key for it in the form PEM")
        }
        try await self.init(keys, algorithm, id)
    }

    /// Reads a set of public keys in the form of RFC 7517, as services for sign-in publish them.
    ///
    /// Keys for which there is no algorithm in `algorithms`, and keys for encryption, are not in the result.
    ///
    /// - Parameters:
    ///   - keySet: The set as JSON.
    ///   - algorithms: The algorithms that are allowed. A key that does not say for which algorithm it is can be used
    ///     with each of them that fits its type.
    /// - Throws: A `StorageError`: `decodingFailed` if the text is no such set.
    public static func keys(
        inSet keySet: Data, algorithms: Set<WebTokenAlgorithm>
    ) async throws -> [WebTokenKey] {
        struct KeySet: Decodable {
            struct Key: Decodable {
                var kty: String
                var use: String?
                var alg: String?
                var kid: String?
            }
            var keys: [Key]
        }
        do {
            let descriptions = try JSONDecoder().decode(KeySet.self, from: keySet).keys
            let texts = try JSONPart(keySet).members().required("keys").elements()
            var result: [WebTokenKey] = []
            for (description, text) in zip(descriptions, texts) where description.use ?? "sig" == "sig" {
                let fitting = algorithms.filter { $0.keyType == description.kty }
                    .filter { description.alg == nil || $0.rawValue == description.alg }
                for algorithm in fitting.sorted(by: { $0.rawValue < $1.rawValue }) {
                    var key = try JWK(json: String(decoding: text.data, as: UTF8.self))
                    guard key.fits(algorithm) else { continue }
                    key.keyIdentifier = JWKIdentifier(string: "key")
                    let keys = JWTKeyCollection()
                    try await keys.add(jwk: key)
                    result.append(try await WebTokenKey(keys, algorithm, description.kid))
                }
            }
            return result
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.decodingFailed, "The set of keys is not one of RFC 7517, or a key in it is damaged.")
        }
    }

    private init(_ keys: JWTKeyCollection, _ algorithm: WebTokenAlgorithm, _ id: String?) async throws {
        verifier = try await keys.getKey(alg: algorithm.rawValue)
        guard verifier.name == algorithm.rawValue else { throw Self.unfit(algorithm, "this key") }
        (self.algorithm, self.id) = (algorithm, id)
    }

    /// Whether a signature is one of this key. A signature that can't be read is none.
    func verifies(_ signature: Data, of text: Data) -> Bool {
        (try? verifier.verify(signature, signs: text)) ?? false
    }

    private static func unfit(_ algorithm: WebTokenAlgorithm, _ key: String) -> StorageError {
        StorageError(.invalidArgument, "\(algorithm.rawValue) can't be used with \(key).")
    }
}

extension WebTokenAlgorithm {
    /// The type of its public keys; see RFC 7518, section 6.1.
    fileprivate var keyType: String? {
        switch self {
        case .hs256, .hs384, .hs512: nil
        case .rs256, .ps256: "RSA"
        case .es256, .es384: "EC"
        case .edDSA: "OKP"
        }
    }
}

extension JWK {
    /// Whether the curve of the key is that of an algorithm.
    fileprivate func fits(_ algorithm: WebTokenAlgorithm) -> Bool {
        switch algorithm {
        case .es256: curve?.rawValue == "P-256"
        case .es384: curve?.rawValue == "P-384"
        case .edDSA: curve?.rawValue == "Ed25519"
        default: true
        }
    }
}
#endif
