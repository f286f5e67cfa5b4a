/// Where a secret is: the key, service and group that it is stored under.
///
/// Two addresses are the same place only if all three parts are equal.
public struct SecretAddress: Hashable, Sendable {
    /// The name of the secret within its service.
    public var key: String

    /// What the secret belongs to, usually an app.
    public var service: KeychainService

    /// The group of apps that share the secret, if it is shared.
    public var group: KeychainGroup?

    /// Creates an address.
    ///
    /// - Parameters:
    ///   - key: The name of the secret within its service.
    ///   - service: What the secret belongs to; ``KeychainService/default`` if it is left out.
    ///   - group: The group of apps that share the secret; none if it is left out.
    public init(key: String, service: KeychainService? = nil, group: KeychainGroup? = nil) {
        self.key = key
        self.service = service ?? .default
        self.group = group
    }
}
