import Crypto
import Foundation

/// Turns secrets into the bytes of files and back, and addresses into the names of files.
///
/// A file is a byte for the version of the format, now 1, then what AES-GCM makes of the secret: a nonce of 12 random
/// bytes, the ciphertext, a tag of 16 bytes. The version and the address are authenticated with it, so a file that is
/// copied to another name does not open there. A nonce must not repeat under one key; with random ones that stays
/// unlikely for 2^32 writes (NIST SP 800-38D, 8.3).
struct SecretCipher {
    private static let version: UInt8 = 1

    private let sealingKey: SymmetricKey
    private let namingKey: SymmetricKey

    /// - Parameter masterKey: What the keys for the two purposes are derived from (HKDF, RFC 5869).
    init(masterKey: SymmetricKey) {
        func key(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: masterKey, info: Data("emporium.secrets.\(purpose)".utf8), outputByteCount: 32)
        }
        sealingKey = key("content")
        namingKey = key("name")
    }

    /// The name of a secret's file: 64 hexadecimal digits that say nothing without the master key.
    func name(of secret: SecretAddress) -> String {
        HMAC<SHA256>.authenticationCode(for: secret.bytes, using: namingKey).hexadecimal
    }

    /// The bytes of a secret's file.
    func seal(_ data: Data, for secret: SecretAddress) throws -> Data {
        let box = try AES.GCM.seal(data, using: sealingKey, authenticating: [Self.version] + secret.bytes)
        return [Self.version] + box.nonce + box.ciphertext + box.tag
    }

    /// The secret in a file.
    ///
    /// - Throws: A ``KeychainError`` with the code `undecodable`.
    func open(_ file: Data, for secret: SecretAddress) throws -> Data {
        guard let version = file.first else {
            throw KeychainError(.undecodable, "The secret's file is empty. Restore it or set the secret anew.")
        }
        guard version == Self.version else {
            throw KeychainError(
                .undecodable,
                "The secret's file is damaged or was written by a newer version. Update the program, or set the secret anew."
            )
        }
        do {
            let box = try AES.GCM.SealedBox(combined: file.dropFirst())
            return try AES.GCM.open(box, using: sealingKey, authenticating: [version] + secret.bytes)
        } catch {
            throw KeychainError(
                .undecodable,
                "The secret's file is damaged, or another key encrypted it. Restore it or set the secret anew.",
                cause: error
            )
        }
    }
}

extension SecretAddress {
    /// Bytes that no other address has: each part with its length before it.
    fileprivate var bytes: [UInt8] {
        [key, service.value, group?.value].reduce(into: []) { bytes, part in
            guard let part else { return }
            let text = Array(part.utf8)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: text.count >> shift))
            }
            bytes += text
        }
    }
}

extension Sequence<UInt8> {
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
