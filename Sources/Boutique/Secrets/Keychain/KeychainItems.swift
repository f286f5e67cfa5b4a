import Foundation

/// The four calls of the keychain, each with the `OSStatus` that it answers, so that what is built on them can be tested
/// where there is no keychain.
protocol KeychainItems: Sendable {
    /// Gets a secret's bytes; without bytes although the status is success, the item holds none.
    func copy(_ secret: SecretAddress) -> (status: Int32, data: Data?)
    /// Replaces the bytes of an item that is there.
    func update(_ secret: SecretAddress, _ data: Data) -> Int32
    /// Makes an item where none is.
    func add(_ secret: SecretAddress, _ data: Data) -> Int32
    /// Removes an item.
    func delete(_ secret: SecretAddress) -> Int32
}

extension KeychainItems {

    /// The bytes of a secret, `nil` if there is none.
    func read(_ secret: SecretAddress) throws -> Data? {
        let (status, data) = copy(secret)
        switch status {
        case KeychainStatus.success:
            guard let data else { throw KeychainError(keychain: KeychainStatus.decode, secret) }
            return data
        case KeychainStatus.itemNotFound: return nil
        default: throw KeychainError(keychain: status, secret)
        }
    }

    /// Writes a secret in place, or makes it if there is none.
    func write(_ data: Data, to secret: SecretAddress) throws {
        var status = update(secret, data)
        // Somebody else can add or remove the item between the two calls, so they are repeated, but not for ever.
        for _ in 0..<8 where status == KeychainStatus.itemNotFound {
            status = add(secret, data)
            if status == KeychainStatus.duplicateItem { status = update(secret, data) }
        }
        if status != KeychainStatus.success { throw KeychainError(keychain: status, secret) }
    }

    /// Removes a secret if there is one.
    func remove(_ secret: SecretAddress) throws {
        let status = delete(secret)
        if status != KeychainStatus.success, status != KeychainStatus.itemNotFound {
            throw KeychainError(keychain: status, secret)
        }
    }
}
