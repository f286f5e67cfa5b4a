import Bodega
public import Foundation

extension SecurelyStoredValue: PersistedValue {

    /// Reads the value, changes it and stores it, or removes it if it becomes `nil`: an atomic read-modify-write.
    ///
    /// Changes from several threads run one after the other, so none is lost. With ``EncryptedFileSecretStorage`` and
    /// `SecretServiceStorage`, this also applies to changes from other processes.
    ///
    /// - Parameter change: Changes the value. It must not change this value by other means.
    /// - Throws: A ``KeychainError``: `undecodable` if the stored value cannot be decoded, `encodingFailed` if the new
    ///   one cannot be encoded, others if the storage failed. The secret is then unchanged.
    public func modify(_ change: (inout Item?) -> Void) throws(KeychainError) {
        try converting { try core.modify(change) }
    }

    /// Stores a value, or removes it if it is `nil`.
    ///
    /// A secret that cannot be decoded is kept aside; see ``undecodableData()``.
    ///
    /// - Parameter value: The new value.
    /// - Throws: A ``KeychainError``: `encodingFailed` if the value cannot be encoded, others if the storage failed.
    ///   The secret is then unchanged.
    public func set(_ value: Item?) throws(KeychainError) {
        guard let value else { return try remove() }
        try converting { try core.set(value) }
    }

    /// Removes the secret, even if it cannot be decoded. Does nothing if there is none.
    ///
    /// Secrets that were kept aside earlier are not removed; see ``removeUndecodableData()``.
    ///
    /// - Throws: A ``KeychainError`` if the secret could not be removed. It is then unchanged.
    public func remove() throws(KeychainError) {
        try converting { try core.remove() }
    }
}

// These helpers need a value, as in Boutique. The others start from an empty value if there is none.
extension SecurelyStoredValue {

    /// Changes `false` to `true` and `true` to `false`.
    ///
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` if there is no value; otherwise the same as ``modify(_:)``.
    public func toggle() throws(KeychainError) where Item == Bool {
        try modifyPresent { $0.toggle() }
    }

    /// Changes one property of the value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - property: Its new value.
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` if there is no value; otherwise the same as ``modify(_:)``.
    public func set<Property>(_ keyPath: WritableKeyPath<Item, Property>, to property: Property) throws(KeychainError) {
        try modifyPresent { $0[keyPath: keyPath] = property }
    }

    private func modifyPresent(_ change: (inout Item) -> Void) throws(KeychainError) {
        try converting {
            try core.modify { value in
                guard var present = value else {
                    throw KeychainError.couldNotAccessKeychain(
                        .init(.notFound, "There is no value to change. Set one first.", secret: address))
                }
                change(&present)
                value = present
            }
        }
    }
}

extension SecurelyStoredValue {

    /// Reads the value, and throws if that fails.
    ///
    /// - Returns: The value, or `nil` if there is no secret.
    /// - Throws: A ``KeychainError``: `undecodable` if the secret is damaged or has another type, `locked` if it may be
    ///   readable later, others if the storage failed.
    public func fetch() throws(KeychainError) -> Item? {
        try converting { try core.value() }
    }

    /// The error of the last write or read, or `nil` if both succeeded.
    ///
    /// The Observation framework tracks it.
    public var lastError: KeychainError? {
        core.lastError.map { KeychainError($0, address) }
    }

    /// All bytes of this secret that could not be decoded.
    ///
    /// They are the bytes that are stored now, if they cannot be decoded, and those that a new value has replaced. The
    /// latter are secrets, too, under the value's key with the suffix `.undecodable`, then `.undecodable-2` and so on.
    /// They don't include secrets that the storage itself cannot read, such as damaged files: the storage keeps these
    /// aside, as ``EncryptedFileSecretStorage`` does.
    ///
    /// - Returns: The bytes, the oldest first; an empty array if all could be decoded.
    /// - Throws: A ``KeychainError`` if they could not be read.
    public func undecodableData() throws(KeychainError) -> [Data] {
        try converting { try core.undecodableData() }
    }

    /// Removes the undecodable bytes that a new value has replaced.
    ///
    /// The bytes that are stored now are not removed, even if they cannot be decoded.
    ///
    /// - Throws: A ``KeychainError`` if they could not be removed.
    public func removeUndecodableData() throws(KeychainError) {
        try converting { try core.removeUndecodableData() }
    }

    private func converting<Result>(_ body: () throws -> Result) throws(KeychainError) -> Result {
        do {
            return try body()
        } catch {
            throw KeychainError(error, address)
        }
    }
}

extension KeychainError {

    /// Converts an error of the core of a value.
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
