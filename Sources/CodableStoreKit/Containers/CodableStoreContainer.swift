/// A section of an engine: collections in different containers have nothing in common.
///
/// ```swift
/// let users = CodableStore<User>(container: "APIv1")
/// ```
///
/// Names are told apart byte by byte, also on volumes that ignore case. Any string is a name.
public struct CodableStoreContainer: Sendable {

    /// The container's name.
    public let name: String

    /// Names a container.
    ///
    /// - Parameter name: The container's name. It may be empty and may hold any character.
    public init(name: String) {
        self.name = name
    }

    /// The container that is used where none is named. Its name is "Default".
    public static let `default` = CodableStoreContainer(name: "Default")
}

extension CodableStoreContainer: Hashable {
    /// Compares the names byte by byte.
    public static func == (left: CodableStoreContainer, right: CodableStoreContainer) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}

extension CodableStoreContainer: ExpressibleByStringInterpolation {
    /// Names a container by a literal.
    public init(stringLiteral name: String) {
        self.init(name: name)
    }
}
