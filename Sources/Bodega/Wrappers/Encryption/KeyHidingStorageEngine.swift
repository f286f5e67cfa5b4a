public import Foundation

/// An engine that keeps its items in another engine, under names that reveal only the lengths of their keys.
/// ``StorageEngine/encrypted(with:collection:hidingKeysWith:)`` creates one.
///
/// A key always has the same name, so the engine finds an item by its name. The name is the encrypted key, so the
/// engine lists keys and reads change feeds without reading items. Each call costs as much as in the other engine, plus
/// the encryption of each key.
///
/// The name is the base64url form of a text that is encrypted with AES-GCM. Its nonce is a keyed hash of the text, so
/// only equal keys have equal nonces:
///
///     text: kind of the key (0 hashed, 1 URL, 2 verbatim) · identity of the key · 0x80 · zeros up to a multiple of 32
///     bytes nonce: the first 12 bytes of the HMAC-SHA-256 of the text name: nonce · ciphertext · tag, 16 bytes
///
/// The keys of the hash and of the encryption are derived with HKDF-SHA-256, without salt, from the primary key of the
/// keyset for keys. The info is `emporium.key.1.hash:` or `emporium.key.1.text:` and the name of the collection. Names
/// are keys of the kind `hashed`.
///
/// An item under another name was written without this engine, or with another keyset for keys. Reading it throws
/// ``StorageError/Code/decryptionFailed``. Its key is `emporium.unreadable:` and the name, of the kind `verbatim`. With
/// this key it can be removed. Keys of this form can't be written.
public struct KeyHidingStorageEngine: TransformingStorageEngine {
    /// The engine that encrypts the items. Its keyset can be replaced.
    public let encryptedItems: EncryptedStorageEngine
    private let cipher: HiddenKeyCipher

    init(_ encryptedItems: EncryptedStorageEngine, keyset: EncryptionKeyset, collection: String) {
        self.encryptedItems = encryptedItems
        cipher = HiddenKeyCipher(keyset: keyset, collection: collection)
    }

    public var base: any StorageBackend { encryptedItems }

    public func storedKey(_ key: CacheKey) -> CacheKey {
        if let name = key.unreadableName { return name }
        return CacheKey(identity: cipher.name(of: key), kind: .hashed)
    }

    public func key(ofStored name: CacheKey) -> CacheKey? {
        if name.kind == .hashed, let key = cipher.key(named: name.identity), !key.isUnreadable { return key }
        return .standIn(forItemNamed: name)
    }

    public func encode(_ data: Data, key: CacheKey) throws -> Data {
        try key.checkIsReadable()
        return data
    }

    public func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        guard !key.isUnreadable else {
            throw StorageError(
                .decryptionFailed,
                """
                The key of the item can't be decrypted: it belongs to another keyset or collection, or was changed. \
                Use the keyset for keys that the items were written with, or remove the item.
                """,
                key: key)
        }
        return stored
    }
}

extension StorageEngine {

    /// Returns an engine that keeps its items encrypted in this engine, under names that hide their keys.
    ///
    /// ```swift
    /// let engine = base.encrypted(with: keyset, collection: "notes", hidingKeysWith: keysetForKeys)
    /// try await engine.encryptedItems.reencrypt()
    /// ```
    ///
    /// - Parameters:
    ///   - keyset: The keys that encrypt items.
    ///   - collection: The name of the collection, which is authenticated with each item. Equal keys of collections
    ///     with different names have different names.
    ///   - keysetForKeys: A keyset of its own, without a key of the other one, which the method does not check. Only
    ///     its primary key is used. It can't be replaced: with another primary key, items are not found by their keys.
    ///     To replace it, copy the items into another engine.
    public func encrypted(
        with keyset: EncryptionKeyset, collection: String = "", hidingKeysWith keysetForKeys: EncryptionKeyset
    ) -> KeyHidingStorageEngine {
        KeyHidingStorageEngine(
            encrypted(with: keyset, collection: collection), keyset: keysetForKeys, collection: collection)
    }
}
