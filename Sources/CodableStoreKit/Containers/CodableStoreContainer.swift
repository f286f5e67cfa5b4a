import Bodega

/// A section of an engine: collections in different containers have nothing in common.
///
/// ```swift
/// let users = CodableStore<User>(container: "APIv1")
/// ```
///
/// Names are told apart byte by byte, also on volumes that ignore case. Any string is a name.
public struct CodableStoreContainer: Codable, Sendable {

    /// The container's name.
    public var name: String

    /// Names a container.
    ///
    /// - Parameter name: The container's name. It may be empty and may hold any character.
    public init(name: String = "Default") {
        self.name = name
    }

    /// The container that is used where none is named. Its name is "Default", unless the program sets another one before
    /// it uses its stores.
    public static var `default`: CodableStoreContainer {
        get { chosenDefault.withLock { $0 } }
        set { chosenDefault.withLock { $0 = newValue } }
    }

    private static let chosenDefault = Locked(CodableStoreContainer.named)

    /// The container with the name "Default", which is the own collection of an SQLite engine.
    static let named = CodableStoreContainer(name: "Default")
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

extension CodableStoreContainer: ExpressibleByIntegerLiteral {
    /// Names a container by a number.
    public init(integerLiteral number: Int) {
        self.init(name: String(number))
    }
}

extension CodableStoreContainer: CustomStringConvertible {
    /// The name and what it is the name of, as in CodableStoreKit: `Default-CodableStoreContainer`.
    public var description: String { "\(name)-CodableStoreContainer" }
}
