import Crypto
package import Foundation

/// The bytes of an encrypted item, see ``EncryptedStorageEngine``.
package struct EncryptedItem {
    private static let version: UInt8 = 1
    /// The number of bytes before the nonce.
    private static let prefixSize = 5
    private static let nonceSize = 12
    private static let tagSize = 16

    let bytes: Data

    private init(bytes: Data) { self.bytes = bytes }

    /// Returns whether bytes have the form of an encrypted item, which JSON and other text never has.
    package static func hasForm(_ stored: Data) -> Bool {
        stored.count >= prefixSize + nonceSize + tagSize && stored.first == version
    }

    /// Returns the identifier of the key in the beginning of stored bytes; `nil` if they don't have the form.
    package static func keyID(of stored: Data) -> UInt32? {
        guard hasForm(stored) else { return nil }
        return stored.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Checks the form of stored bytes.
    init(_ stored: Data) throws {
        guard Self.hasForm(stored) else {
            throw StorageError(
                .decryptionFailed,
                """
                The item does not have the form of an encrypted one: it is in clear text, or damaged. Read it without \
                the keyset.
                """)
        }
        bytes = stored
    }

    /// The identifier of the key that the item was encrypted with.
    var keyID: UInt32 {
        bytes.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) }
    }

    /// Encrypts an item with a new random nonce.
    static func encrypt(_ data: Data, with key: EncryptionKeyset.Key, _ associatedData: Data) throws -> EncryptedItem {
        // With a nonce of the standard size there always is a combined form: nonce, ciphertext and tag.
        guard let box = try AES.GCM.seal(data, using: key.secret, authenticating: associatedData).combined else {
            throw StorageError(.encodingFailed, "The item could not be encrypted.")
        }
        var bytes = Data(capacity: prefixSize + box.count)
        bytes.append(contentsOf: [
            version, UInt8(truncatingIfNeeded: key.id >> 24), UInt8(truncatingIfNeeded: key.id >> 16),
            UInt8(truncatingIfNeeded: key.id >> 8), UInt8(truncatingIfNeeded: key.id),
        ])
        bytes.append(box)
        return EncryptedItem(bytes: bytes)
    }

    /// Decrypts the item.
    ///
    /// - Parameters:
    ///   - key: The key with the identifier ``keyID``; `nil` if the keyset lacks it.
    ///   - associatedData: What was authenticated with the item.
    func decrypt(with key: EncryptionKeyset.Key?, _ associatedData: Data) throws -> Data {
        guard let key else {
            throw StorageError(
                .encryptionKeyMissing,
                "The item is encrypted with key \(keyID), which the keyset lacks. Use a keyset that has it.")
        }
        do {
            let box = try AES.GCM.SealedBox(combined: bytes.dropFirst(Self.prefixSize))
            return try AES.GCM.open(box, using: key.secret, authenticating: associatedData)
        } catch {
            throw StorageError(
                .decryptionFailed,
                """
                The item was changed, or belongs to another key or collection. Restore it from a backup, remove it, or \
                write it again.
                """,
                cause: error)
        }
    }
}
