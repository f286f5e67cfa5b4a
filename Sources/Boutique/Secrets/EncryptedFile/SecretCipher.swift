import Bodega
import Crypto
import Foundation

/// Encrypts and decrypts the files of secrets, and derives their names from addresses.
///
/// A file contains a byte for the version of the format, currently 1, then the output of AES-GCM: a nonce of 12 random
/// bytes, the ciphertext, a tag of 16 bytes. The tag also authenticates the version and the address, so a file that is
/// copied to another name cannot be decrypted there. A nonce must not repeat under one key; a repetition of random
/// nonces is unlikely for 2^32 writes (NIST SP 800-38D, 8.3).
struct SecretCipher {
    private static let version: UInt8 = 1

    private let sealingKey: SymmetricKey
    private let namingKey: SymmetricKey

    /// - Parameter masterKey: The key from which the keys for contents and names are derived (HKDF, RFC 5869).
    init(masterKey: SymmetricKey) {
        func key(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: masterKey, info: Data("emporium.secrets.\(purpose)".utf8), outputByteCount: 32)
        }
        sealingKey = key("content")
        namingKey = key("name")
    }

    /// The name of a secret's file: 64 hexadecimal digits that reveal nothing without the master key.
    func name(of secret: SecretAddress) -> String {
        HMAC<SHA256>.authenticationCode(for: secret.bytes, using: namingKey).hexadecimal
    }

    /// Encrypts a secret for its file.
    func seal(_ data: Data, for secret: SecretAddress) throws -> Data {
        let box = try AES.GCM.seal(data, using: sealingKey, authenticating: [Self.version] + secret.bytes)
        return [Self.version] + box.nonce + box.ciphertext + box.tag
    }

    /// Decrypts the bytes of a file.
    ///
    /// - Throws: A ``KeychainError`` with the code `undecodable`.
    func open(_ file: Data, for secret: SecretAddress) throws -> Data {
        guard let version = file.first else {
            throw KeychainError(.undecodable, "The secret's file is empty. Restore the file or set the secret again.")
        }
        guard version == Self.version else {
            throw KeychainError(
                .undecodable,
                """
                The secret's file is damaged or was written by a newer version. Update the program or set the secret \
                again.
                """
            )
        }
        do {
            let box = try AES.GCM.SealedBox(combined: file.dropFirst())
            return try AES.GCM.open(box, using: sealingKey, authenticating: [version] + secret.bytes)
        } catch {
            throw KeychainError(
                .undecodable,
                "The secret's file is damaged or encrypted with another key. Restore the file or set the secret again.",
                cause: error
            )
        }
    }
}

extension SecretAddress {
    /// A unique encoding of the address: each part, preceded by its length.
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
