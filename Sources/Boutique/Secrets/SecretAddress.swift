import Bodega

/// The address of a secret: its key, service and group.
public struct SecretAddress: Hashable, Sendable {
    /// The name of the secret within its service.
    public var key: String

    /// The owner of the secret, usually an app.
    public var service: KeychainService

    /// The group of apps that share the secret, if there is one.
    public var group: KeychainGroup?

    /// Creates an address.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service.
    ///   - service: The owner of the secret; by default, ``KeychainService/default``.
    ///   - group: The group of apps that share the secret; by default, none.
    public init(key: String, service: KeychainService? = nil, group: KeychainGroup? = nil) {
        self.key = key
        self.service = service ?? .default
        self.group = group
    }
}

extension SecretAddress {
    /// Compares the names byte by byte.
    public static func == (left: SecretAddress, right: SecretAddress) -> Bool {
        ExactText(left.key) == ExactText(right.key) && left.service == right.service && left.group == right.group
    }

    /// Hashes the bytes of the names.
    public func hash(into hasher: inout Hasher) {
        ExactText(key).hash(into: &hasher)
        hasher.combine(service)
        hasher.combine(group)
    }
}
