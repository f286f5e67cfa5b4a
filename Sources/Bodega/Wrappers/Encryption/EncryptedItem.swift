import Crypto
import Foundation

/// The bytes of an encrypted item, see ``EncryptedStorageEngine``.
struct EncryptedItem {
    private static let version: UInt8 = 1
    /// The number of bytes before the nonce.
    private static let prefixSize = 5
    private static let nonceSize = 12
    private static let tagSize = 16

    let bytes: Data

    private init(bytes: Data) { self.bytes = bytes }

    /// Checks the form of stored bytes.
    init(_ stored: Data) throws {
        guard stored.count >= Self.prefixSize + Self.nonceSize + Self.tagSize, stored.first == Self.version else {
            throw StorageError(
                .decryptionFailed,
                "The item was not written by an encrypted engine, or is damaged. Remove it, or write it again.")
        }
        bytes = stored
    }

    /// The identifier of the key that the item was encrypted with.
    var keyID: UInt32 {
        bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Encrypts an item with a new random nonce.
    static func encrypt(_ data: Data, with key: EncryptionKeyset.Key, _ associatedData: Data) throws -> EncryptedItem {
        let box = try AES.GCM.seal(data, using: key.secret, authenticating: associatedData)
        var bytes = Data(capacity: prefixSize + nonceSize + data.count + tagSize)
        bytes.append(version)
        withUnsafeBytes(of: key.id.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: box.nonce)
        bytes.append(box.ciphertext)
        bytes.append(box.tag)
        return EncryptedItem(bytes: bytes)
    }

    /// Decrypts the item.
    func decrypt(with keyset: EncryptionKeyset, _ associatedData: Data) throws -> Data {
        guard let key = keyset.keys[keyID] else {
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

extension EncryptionKeyset {
    /// The key that encrypts.
    var primaryKey: Key {
        guard let key = keys[primaryKeyID] else { preconditionFailure("A keyset always has its primary key.") }
        return key
    }
}
