/// A group of apps that share secrets; a string literal is one.
///
/// In the keychain it is an access group that the app's entitlements name. Elsewhere it is a part of the secret's
/// address only: every program of the user that names the group reads the secret.
public struct KeychainGroup: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The group's name.
    public let value: String

    /// Names a group.
    ///
    /// - Parameter value: The group's name.
    public init(_ value: String) {
        self.value = value
    }

    /// Names a group; the same as ``init(_:)``.
    ///
    /// - Parameter value: The group's name.
    public init(value: String) {
        self.init(value)
    }

    /// Names a group by a literal.
    ///
    /// - Parameter value: The group's name.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The group's name.
    public var description: String { value }
}
