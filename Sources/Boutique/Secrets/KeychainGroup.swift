import Bodega

/// A group of apps that share secrets, expressible by a string literal.
///
/// In the keychain it is an access group of the app's entitlements. In other storages it is only a part of the secret's
/// address: every program of the user that specifies the group can read the secret.
public struct KeychainGroup: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The group's name.
    public let value: String

    /// Creates a group.
    ///
    /// - Parameter value: The group's name.
    public init(_ value: String) {
        self.value = value
    }

    /// Creates a group; the same as ``init(_:)``.
    ///
    /// - Parameter value: The group's name.
    public init(value: String) {
        self.init(value)
    }

    /// Creates a group from a literal.
    ///
    /// - Parameter value: The group's name.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The group's name.
    public var description: String { value }
}

extension KeychainGroup {
    /// Compares the names byte by byte.
    public static func == (left: KeychainGroup, right: KeychainGroup) -> Bool {
        ExactText(left.value) == ExactText(right.value)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) { ExactText(value).hash(into: &hasher) }
}
