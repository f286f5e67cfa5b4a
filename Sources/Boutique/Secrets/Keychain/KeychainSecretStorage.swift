#if canImport(Security)
public import Foundation
import Security

/// A storage of secrets in the keychain, as generic passwords.
///
/// ``SecurelyStoredValue`` uses it on platforms with a keychain. The key is the item's account. An existing item is
/// updated in place, so its other attributes stay the same.
///
/// Items are accessible after the device was first unlocked since its start (`kSecAttrAccessibleAfterFirstUnlock`),
/// because apps also need their tokens in the background while the device is locked. They are part of encrypted backups
/// and are not synchronized by iCloud.
///
/// A secret without a group is searched in all groups that the app may use. If several of them contain a secret with
/// the same key and service, specify the group.
///
/// - Important: This code is type-checked but not run: the package is tested on a platform without a keychain. The
///   order of the keychain calls and the handling of their status codes are tested with a fake keychain.
public struct KeychainSecretStorage: SecretStorage {
    private let items: SecurityItems

    /// The name of the keychain.
    public let scope: String

    /// Creates a storage for a keychain.
    ///
    /// - Parameter usesDataProtection: Whether to use the data protection keychain, which is the same on all Apple
    ///   platforms. It needs a signed app with a keychain access group; without one, every call fails with
    ///   ``KeychainError/Code/missingEntitlement``. `false` selects the older, file-based keychain of macOS: for
    ///   unsigned command-line tools, and for items that apps stored without specifying a keychain. Other platforms
    ///   have only the data protection keychain.
    public init(usesDataProtection: Bool = true) {
        items = SecurityItems(usesDataProtection: usesDataProtection)
        scope = usesDataProtection ? "keychain" : "keychain:file"
    }

    public func read(_ secret: SecretAddress) throws -> Data? {
        try items.read(secret)
    }

    public func write(_ data: Data, to secret: SecretAddress) throws {
        try items.write(data, to: secret)
    }

    public func remove(_ secret: SecretAddress) throws {
        try items.remove(secret)
    }
}

/// The functions of the Security framework.
private struct SecurityItems: KeychainItems {
    let usesDataProtection: Bool

    func copy(_ secret: SecretAddress) -> (status: Int32, data: Data?) {
        var result: CFTypeRef?
        let query = query(secret, [kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne])
        let status = SecItemCopyMatching(query, &result)
        return (status, result as? Data)
    }

    func update(_ secret: SecretAddress, _ data: Data) -> Int32 {
        SecItemUpdate(query(secret), dictionary([kSecValueData as String: data]))
    }

    func add(_ secret: SecretAddress, _ data: Data) -> Int32 {
        let attributes: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
        ]
        return SecItemAdd(query(secret, attributes), nil)
    }

    func delete(_ secret: SecretAddress) -> Int32 {
        SecItemDelete(query(secret))
    }

    private func query(_ secret: SecretAddress, _ additions: [String: Any] = [:]) -> CFDictionary {
        var query = additions
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrAccount as String] = secret.key
        query[kSecAttrService as String] = secret.service.value
        if let group = secret.group { query[kSecAttrAccessGroup as String] = group.value }
        if usesDataProtection { query[kSecUseDataProtectionKeychain as String] = true }
        return dictionary(query)
    }

    private func dictionary(_ values: [String: Any]) -> CFDictionary {
        NSDictionary(dictionary: values) as CFDictionary
    }
}
#endif
