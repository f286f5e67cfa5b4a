import Bodega
public import Foundation

extension SecurelyStoredValue: PersistedValue {

    /// Reads the value, changes it and stores it, in one step. A value that becomes `nil` is removed.
    ///
    /// Two changes never overlap, so none is lost, also if they come from different threads; or from other processes,
    /// if the storage is ``EncryptedFileSecretStorage``.
    ///
    /// - Parameter change: Changes the value. It must not change this value in another way.
    /// - Throws: A ``KeychainError``: `undecodable` if there is a value that cannot be decoded, `encodingFailed` if the
    ///   new one cannot be encoded, others if the storage failed. The secret is then what it was.
    public func modify(_ change: (inout Item?) -> Void) throws(KeychainError) {
        try telling { try core.modify(change) }
    }

    /// Stores a value, or removes it if it is `nil`.
    ///
    /// A secret that cannot be decoded is kept aside; see ``undecodableData()``.
    ///
    /// - Parameter value: The new value.
    /// - Throws: A ``KeychainError``: `encodingFailed` if the value cannot be encoded, others if the storage failed. The
    ///   secret is then what it was.
    public func set(_ value: Item?) throws(KeychainError) {
        guard let value else { return try remove() }
        try telling { try core.set(value) }
    }

    /// Removes the secret, also one that cannot be decoded. It is no failure if there is none.
    ///
    /// Secrets that were kept aside before stay; see ``removeUndecodableData()``.
    ///
    /// - Throws: A ``KeychainError`` if it could not be removed. It is then still there.
    public func remove() throws(KeychainError) {
        try telling { try core.remove() }
    }
}

// These need a value, as in Boutique. The others start from an empty one where there is none.
extension SecurelyStoredValue {

    /// Changes `false` to `true` and `true` to `false`.
    ///
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` if there is no value; others as ``modify(_:)``.
    public func toggle() throws(KeychainError) where Item == Bool {
        try modifyPresent { $0.toggle() }
    }

    /// Changes one property of the value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` if there is no value; others as ``modify(_:)``.
    public func set<Property>(_ keyPath: WritableKeyPath<Item, Property>, to property: Property) throws(KeychainError) {
        try modifyPresent { $0[keyPath: keyPath] = property }
    }

    private func modifyPresent(_ change: (inout Item) -> Void) throws(KeychainError) {
        try telling {
            try core.modify { value in
                guard var present = value else {
                    throw KeychainError.couldNotAccessKeychain(
                        .init(.notFound, "There is no value that could be changed. Set one first.", secret: address))
                }
                change(&present)
                value = present
            }
        }
    }
}

extension SecurelyStoredValue {

    /// Reads the value, and tells absence and failures apart.
    ///
    /// - Returns: The value, or `nil` if there is no secret.
    /// - Throws: A ``KeychainError``: `undecodable` if the secret is damaged or is not such a value, `locked` if it can be
    ///   read later, others if the storage failed.
    public func fetch() throws(KeychainError) -> Item? {
        try telling { try core.value() }
    }

    /// Why the secret could not be stored or read the last time, or `nil` if that succeeded.
    ///
    /// The Observation framework tracks it.
    public var lastError: KeychainError? {
        core.lastError.map { KeychainError($0, address) }
    }

    /// The bytes of this secret that are no such value.
    ///
    /// They are those that are stored now, if they cannot be decoded, and those that were stored when the value was set
    /// in spite of it. The latter are secrets too, under the value's key with `.undecodable` behind it, further ones with
    /// `.undecodable-2` and so on. What is damaged below the level of the secret is not among them: the storage keeps
    /// that aside by itself, as ``EncryptedFileSecretStorage`` does.
    ///
    /// - Returns: The bytes, the oldest first; empty if everything could be decoded.
    /// - Throws: A ``KeychainError`` if they could not be read.
    public func undecodableData() throws(KeychainError) -> [Data] {
        try telling { try core.undecodableData() }
    }

    /// Removes for good the bytes that were kept when the value was set although they could not be decoded.
    ///
    /// What is stored now stays, also if it cannot be decoded.
    ///
    /// - Throws: A ``KeychainError`` if they could not be removed.
    public func removeUndecodableData() throws(KeychainError) {
        try telling { try core.removeUndecodableData() }
    }

    private func telling<Result>(_ body: () throws -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch {
            throw KeychainError(error, address)
        }
    }
}

extension KeychainError {

    /// Says as an error of secrets what the core of a value threw.
    fileprivate init(_ error: any Error, _ secret: SecretAddress) {
        switch error {
        case let error as KeychainError:
            self = error
            self.secret = error.secret ?? secret
        case let damage as DamagedValue:
            self.init(damage.cause, secret)
        case let error as StorageError:
            if let cause = error.cause as? KeychainError {
                self.init(cause, secret)
                return
            }
            self.init(error, secret: secret)
        default:
            self.init(.other, "The secret could not be stored or read.", secret: secret, cause: error)
        }
    }
}
