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
/// contains the keys in clear text: whoever reads it can decrypt all items.
///
/// The description of a keyset contains no secrets.
public struct EncryptionKeyset: Sendable {

    /// A key that encrypts and decrypts.
    struct Key: Sendable {
        let id: UInt32
        let secret: SymmetricKey
    }

    private(set) var keys: [UInt32: Key]

    /// The keys in their order in the JSON, with those that are disabled.
    private var entries: [Entry]

    /// The identifier of the key that encrypts.
    public private(set) var primaryKeyID: UInt32

    /// Creates a keyset with one new random key of 256 bits.
    public init() {
        let entry = Entry(id: Self.newID(excluding: []), secret: SymmetricKey(size: .bits256))
        (keys, entries, primaryKeyID) = ([:], [entry], entry.keyId)
        keys = Self.enabledKeys(of: entries)
    }

    /// Reads a keyset.
    ///
    /// - Parameter json: The keyset in Tink's JSON, in clear text. Keys that are disabled are kept and not used.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/invalidArgument`` if it is not such a keyset, or has keys of
    ///   other types.
    public init(json: Data) throws {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: json)
        } catch {
            // The error of the decoder may contain parts of the keys.
            throw Self.invalid("It is not the JSON of a Tink keyset.")
        }
        guard Set(document.key.map(\.keyId)).count == document.key.count else {
            throw Self.invalid("Two of its keys have the same identifier.")
        }
        for entry in document.key where entry.status == Entry.enabled { _ = try entry.key() }
        entries = document.key
        keys = Self.enabledKeys(of: entries)
        primaryKeyID = document.primaryKeyId
        guard keys[primaryKeyID] != nil else {
            throw Self.invalid("Its primary key \(primaryKeyID) is missing or disabled.")
        }
    }

    /// Returns the keyset in Tink's JSON, with the keys in clear text.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Document(primaryKeyId: primaryKeyID, key: entries))
    }

    /// The identifiers of the keys that are enabled, the primary key's included, in the order in which they were added.
    public var keyIDs: [UInt32] { entries.map(\.keyId).filter { keys[$0] != nil } }

    /// Adds a new random key of 256 bits, which decrypts. ``makePrimary(_:)`` makes it encrypt.
    ///
    /// - Returns: The identifier of the key.
    @discardableResult
    public mutating func addKey() -> UInt32 {
        let entry = Entry(id: Self.newID(excluding: entries.map(\.keyId)), secret: SymmetricKey(size: .bits256))
        entries.append(entry)
        keys = Self.enabledKeys(of: entries)
        return entry.keyId
    }

    /// Makes a key the one that encrypts.
    ///
    /// - Parameter id: The identifier of the key.
    /// - Throws: A ``StorageError`` with ``StorageError/Code/invalidArgument`` if there is no such key.
    public mutating func makePrimary(_ id: UInt32) throws {
        guard keys[id] != nil else { throw Self.invalid("It has no enabled key \(id).") }
        primaryKeyID = id
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
        keys = Self.enabledKeys(of: entries)
    }

    private static func enabledKeys(of entries: [Entry]) -> [UInt32: Key] {
        var keys: [UInt32: Key] = [:]
        for entry in entries where entry.status == Entry.enabled { keys[entry.keyId] = try? entry.key() }
        return keys
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

private struct Document: Codable {
    let primaryKeyId: UInt32
    let key: [Entry]
}

private struct Entry: Codable, Sendable {
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

    init(id: UInt32, secret: SymmetricKey) {
        let message = AESGCMKeyMessage(secret: secret.withUnsafeBytes { Data($0) })
        keyData = KeyData(typeUrl: Self.type, value: message.bytes, keyMaterialType: "SYMMETRIC")
        (status, keyId, outputPrefixType) = (Self.enabled, id, "TINK")
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
