import Foundation

/// The four functions of the keychain, which return an `OSStatus`, so that their callers can be tested without it.
protocol KeychainItems: Sendable {
    /// Returns the bytes of a secret; `nil` with the status success if the item has none.
    func copy(_ secret: SecretAddress) -> (status: Int32, data: Data?)
    /// Replaces the bytes of an existing item.
    func update(_ secret: SecretAddress, _ data: Data) -> Int32
    /// Adds a new item.
    func add(_ secret: SecretAddress, _ data: Data) -> Int32
    /// Removes an item.
    func delete(_ secret: SecretAddress) -> Int32
}

extension KeychainItems {

    /// Reads a secret; `nil` if there is none.
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

    /// Updates a secret, or adds it if there is none.
    func write(_ data: Data, to secret: SecretAddress) throws {
        var status = update(secret, data)
        // Another process can add or remove the item between the two calls, so they are repeated up to a limit.
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
