import Crypto
public import Foundation

/// An engine that keeps its items encrypted in another engine. ``StorageEngine/encrypted(with:collection:)`` creates
/// one.
///
/// Each item is encrypted and authenticated with AES-GCM, in the format of
/// [Tink](https://developers.google.com/tink/wire-format):
///
///     0x01 · key identifier, 4 bytes, big-endian · nonce, 12 bytes, random · ciphertext · tag, 16 bytes
///
/// The associated data are the name of the collection and the key of the item, so that an item that was moved under
/// another key or into another collection is not accepted:
///
///     "emporium.item.1" · length of the collection's name in bytes, 8 bytes, big-endian · name
///     · kind of the key (0 hashed, 1 URL, 2 verbatim) · identity of the key
///
/// An item that can't be decrypted throws a ``StorageError`` with ``StorageError/Code/decryptionFailed``, or with
/// ``StorageError/Code/encryptionKeyMissing`` if its key is not in the keyset. The error names the item. Other items
/// are not affected: they can be read by their keys, and ``ObjectStorage`` and stores read all of them and report the
/// others, see ``ReadOptions/omitsUnreadable``.
///
/// Keys, dates, sizes and the order of items are not encrypted.
/// ``StorageEngine/encrypted(with:collection:hidingKeysWith:)`` hides the keys, too. For what this protects against,
/// see <doc:Encryption>.
///
/// Copies of an engine share one keyset.
public struct EncryptedStorageEngine: TransformingStorageEngine {
    /// The engine that keeps the encrypted items.
    public let base: any StorageBackend

    /// The name of the collection, which is authenticated with each item.
    public let collection: String

    private let currentKeyset: Locked<EncryptionKeyset>
    /// The associated data of all items, before what differs between them.
    private let associatedPrefix: Data

    init(_ base: any StorageBackend, keyset: EncryptionKeyset, collection: String) {
        self.base = base
        self.collection = collection
        currentKeyset = Locked(keyset)
        var prefix = Data("emporium.item.1".utf8)
        withUnsafeBytes(of: UInt64(collection.utf8.count).bigEndian) { prefix.append(contentsOf: $0) }
        prefix.append(contentsOf: collection.utf8)
        associatedPrefix = prefix
    }

    /// The keyset.
    public var keyset: EncryptionKeyset { currentKeyset.withLock { $0 } }

    /// Replaces the keyset for all later calls. Items that are encrypted with keys that it lacks can't be read any
    /// more.
    ///
    /// - Parameter keyset: The new keyset.
    public func use(_ keyset: EncryptionKeyset) {
        currentKeyset.withLock { $0 = keyset }
    }

    public func encode(_ data: Data, key: CacheKey) throws -> Data {
        let primaryKey = currentKeyset.withLock { $0.primaryKey }
        return try EncryptedItem.encrypt(data, with: primaryKey, associatedData(key)).bytes
    }

    public func decode(_ stored: Data, key: CacheKey) throws -> Data? { try decrypt(stored, key: key) }

    func decrypt(_ stored: Data, key: CacheKey) throws -> Data {
        do {
            let item = try EncryptedItem(stored)
            let encryptionKey = currentKeyset.withLock { $0.keys[item.keyID] }
            return try item.decrypt(with: encryptionKey, associatedData(key))
        } catch var error as StorageError {
            error.key = key
            if error.code == .decryptionFailed, key.isNameOfFile {
                error.message = """
                    The item can't be decrypted under the name of its file. If the folder was copied without extended \
                    attributes, which have the keys of the items, copy it again with them, for example with cp -a or \
                    rsync -aX. It can still be read by its key.
                    """
            }
            throw error
        }
    }

    private func associatedData(_ key: CacheKey) -> Data {
        var identity = key.identity
        var data = Data(capacity: associatedPrefix.count + 1 + identity.utf8.count)
        data.append(associatedPrefix)
        data.append(key.kind.code)
        identity.withUTF8 { data.append($0) }
        return data
    }
}

extension StorageEngine {

    /// Returns an engine that keeps its items encrypted in this engine.
    ///
    /// ```swift
    /// let engine = try SQLiteStorageEngine(opening: directory).encrypted(with: keyset)
    /// ```
    ///
    /// - Parameters:
    ///   - keyset: The keys.
    ///   - collection: The name of the collection, which is authenticated with each item. Collections that share a
    ///     keyset need different names, so that an item can't be moved from one to the other unnoticed.
    public func encrypted(with keyset: EncryptionKeyset, collection: String = "") -> EncryptedStorageEngine {
        EncryptedStorageEngine(backend, keyset: keyset, collection: collection)
    }
}
