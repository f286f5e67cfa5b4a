import Crypto
public import Foundation

/// The keys of an ``EncryptedStorageEngine``: one primary key that encrypts, and others that still decrypt.
///
/// ```swift
/// var keyset = EncryptionKeyset()                      // a new random key
/// try secrets.write(keyset.json(), to: address)        // keep it in a safe place
/// ```
///
/// Its JSON is that of [Tink](https://developers.google.com/tink), so Tink's tools and libraries can create, rotate and
/// use it. The keys are AES-GCM keys of 128 or 256 bits with the output prefix `TINK`; new ones have 256 bits. The JSON
/// contains the keys in clear text: a program that reads it can decrypt all items.
///
/// The description of a keyset contains no secrets.
public struct EncryptionKeyset: Sendable {

    /// A key that encrypts and decrypts.
    struct Key: Sendable {
        let id: UInt32
        let secret: SymmetricKey
    }

    /// The keys that are enabled.
    private(set) var keys: [UInt32: Key]

    /// The key that encrypts.
    private(set) var primaryKey: Key

    /// The keys in their order in the JSON, with those that are disabled.
    private var entries: [KeysetEntry]

    /// The identifier of the key that encrypts.
    public var primaryKeyID: UInt32 { primaryKey.id }

    /// Creates a keyset with one new random key of 256 bits.
    public init() {
        let key = Key(id: Self.newID(excluding: []), secret: SymmetricKey(size: .bits256))
        (keys, primaryKey, entries) = ([key.id: key], key, [KeysetEntry(key)])
    }

    /// Reads a keyset.
    ///
    /// - Parameter json: The keyset in Tink's JSON, in clear text. Keys that are disabled are kept and not used.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/invalidArgument`` if it is not such a keyset, or has keys
    ///   of other types.
    public init(json: Data) throws {
        let document: KeysetDocument
        do {
            document = try JSONDecoder().decode(KeysetDocument.self, from: json)
        } catch {
            // The error of the decoder may contain parts of the keys.
            throw Self.invalid("It is not the JSON of a Tink keyset.")
        }
        guard Set(document.key.map(\.keyId)).count == document.key.count else {
            throw Self.invalid("Two of its keys have the same identifier.")
        }
        entries = document.key
        keys = [:]
        for entry in entries where entry.status == KeysetEntry.enabled { keys[entry.keyId] = try entry.key() }
        guard let primaryKey = keys[document.primaryKeyId] else {
            throw Self.invalid("Its primary key \(document.primaryKeyId) is missing or disabled.")
        }
        self.primaryKey = primaryKey
    }

    /// Returns the keyset in Tink's JSON, with the keys in clear text.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(KeysetDocument(primaryKeyId: primaryKeyID, key: entries))
    }

    /// The identifiers of the keys that are enabled, the primary key's included, in the order in which they were added.
    public var keyIDs: [UInt32] { entries.map(\.keyId).filter { keys[$0] != nil } }

    /// Returns whether an enabled key of this keyset is, under any identifier, an enabled key of another one.
    package func sharesKey(with other: EncryptionKeyset) -> Bool {
        keys.values.contains { key in other.keys.values.contains { $0.secret == key.secret } }
    }

    /// Adds a new random key of 256 bits, which decrypts. ``makePrimary(_:)`` makes it encrypt.
    ///
    /// - Returns: The identifier of the key.
    @discardableResult
    public mutating func addKey() -> UInt32 {
        let key = Key(id: Self.newID(excluding: entries.map(\.keyId)), secret: SymmetricKey(size: .bits256))
        entries.append(KeysetEntry(key))
        keys[key.id] = key
        return key.id
    }

    /// Makes a key the one that encrypts.
    ///
    /// - Parameter id: The identifier of the key.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/invalidArgument`` if there is no such key.
    public mutating func makePrimary(_ id: UInt32) throws {
        guard let key = keys[id] else { throw Self.invalid("It has no enabled key \(id).") }
        primaryKey = key
    }

    /// Removes a key. Items that are encrypted with it can't be read any more.
    ///
    /// - Parameter id: The identifier of the key.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/invalidArgument`` if there is no such key, or it is the
    ///   primary key.
    public mutating func removeKey(_ id: UInt32) throws {
        guard id != primaryKeyID else {
            throw Self.invalid("Its key \(id) is the primary key. Make another one primary first.")
        }
        guard entries.contains(where: { $0.keyId == id }) else { throw Self.invalid("It has no key \(id).") }
        entries.removeAll { $0.keyId == id }
        keys[id] = nil
    }

    private static func newID(excluding ids: [UInt32]) -> UInt32 {
        var generator = SystemRandomNumberGenerator()
        while true {
            let id = UInt32.random(in: 1...UInt32(Int32.max), using: &generator)
            if !ids.contains(id) { return id }
        }
    }

    fileprivate static func invalid(_ reason: String) -> StorageError {
        StorageError(.invalidArgument, "The keyset can't be used. \(reason)")
    }
}

extension EncryptionKeyset: CustomStringConvertible, CustomReflectable {
    /// The identifiers of the keys.
    public var description: String { "EncryptionKeyset(primary key: \(primaryKeyID), keys: \(keyIDs))" }

    /// A mirror without the keys, for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["primaryKeyID": primaryKeyID, "keyIDs": keyIDs]) }
}

// The form of Tink's JSON, whose names these types have.

private struct KeysetDocument: Codable {
    let primaryKeyId: UInt32
    let key: [KeysetEntry]
}

private struct KeysetEntry: Codable, Sendable {
    static let enabled = "ENABLED"
    private static let type = "type.googleapis.com/google.crypto.tink.AesGcmKey"

    struct KeyData: Codable, Sendable {
        let typeUrl: String
        /// The bytes of a Protocol Buffers message of the type.
        let value: Data
        let keyMaterialType: String
    }

    /// Missing for a destroyed key.
    let keyData: KeyData?
    let status: String
    let keyId: UInt32
    let outputPrefixType: String

    init(_ key: EncryptionKeyset.Key) {
        let message = AESGCMKeyMessage(secret: key.secret.withUnsafeBytes { Data($0) })
        keyData = KeyData(typeUrl: Self.type, value: message.bytes, keyMaterialType: "SYMMETRIC")
        (status, keyId, outputPrefixType) = (Self.enabled, key.id, "TINK")
    }

    func key() throws -> EncryptionKeyset.Key {
        guard let keyData, keyData.typeUrl == Self.type else {
            throw EncryptionKeyset.invalid("Its key \(keyId) has another type than AES-GCM.")
        }
        guard outputPrefixType == "TINK" else {
            throw EncryptionKeyset.invalid("Its key \(keyId) has another output prefix than TINK.")
        }
        guard let message = AESGCMKeyMessage(bytes: keyData.value), [16, 32].contains(message.secret.count) else {
            throw EncryptionKeyset.invalid("Its key \(keyId) is not an AES-GCM key of 128 or 256 bits.")
        }
        return EncryptionKeyset.Key(id: keyId, secret: SymmetricKey(data: message.secret))
    }
}
