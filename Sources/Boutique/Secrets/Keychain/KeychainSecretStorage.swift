#if canImport(Security)
public import Foundation
import Security

/// Keeps secrets in the keychain, as generic passwords.
///
/// It is what ``SecurelyStoredValue`` uses where there is a keychain. The key is the item's account. An item that is
/// there is changed in place, so what else the system keeps with it stays.
///
/// Items are accessible after the device was unlocked once since it started (`kSecAttrAccessibleAfterFirstUnlock`),
/// because apps also need their tokens in the background while the device is locked. They are part of encrypted backups
/// and are not synchronised by iCloud.
///
/// A secret without a group is looked for in all groups that the app may use. If several of them have a secret of the same
/// key and service, name the group.
///
/// - Important: Its code is type-checked, not run: the package is tested on a platform without a keychain. How the four
///   calls of the keychain follow each other and what their answers mean is tested with a stand-in.
public struct KeychainSecretStorage: SecretStorage {
    private let items: SecurityItems

    /// Says which keychain it is.
    public let scope: String

    /// Names a keychain.
    ///
    /// - Parameter usesDataProtection: Whether to use the data protection keychain, which works alike on all of Apple's
    ///   platforms. It needs a signed app with a keychain access group; without one, every call fails with
    ///   ``KeychainError/Code/missingEntitlement``. `false` means the older keychain in a file that macOS has beside it:
    ///   for command-line tools that are not signed, and for items that apps stored without naming a keychain. Other
    ///   platforms have only the one.
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

/// The calls of the Security framework.
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

    private func query(_ secret: SecretAddress, _ more: [String: Any] = [:]) -> CFDictionary {
        var query = more
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
