import Bodega

/// A separate section of an engine, with its own collections.
///
/// ```swift
/// let users = CodableStore<User>(container: "APIv1")
/// ```
///
/// Any string is a valid name. Names are compared byte by byte, even on volumes that ignore case.
public struct CodableStoreContainer: Codable, Sendable {

    /// The container's name.
    public var name: String

    /// Creates a container with a name.
    ///
    /// - Parameter name: The container's name. It may be empty and may contain any character.
    public init(name: String = "Default") {
        self.name = name
    }

    /// The container of stores that are created without one. Its name is "Default". A program can set another container
    /// before it creates its stores.
    public static var `default`: CodableStoreContainer {
        get { chosenDefault.withLock { $0 } }
        set { chosenDefault.withLock { $0 = newValue } }
    }

    private static let chosenDefault = Locked(CodableStoreContainer.named)

    /// The container named "Default". On a shared SQLite engine, it is the engine's own collection.
    static let named = CodableStoreContainer(name: "Default")
}

extension CodableStoreContainer: Hashable {
    /// Compares the names byte by byte.
    public static func == (left: CodableStoreContainer, right: CodableStoreContainer) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}

extension CodableStoreContainer: ExpressibleByStringInterpolation {
    /// Creates a container whose name is a string literal.
    public init(stringLiteral name: String) {
        self.init(name: name)
    }
}

extension CodableStoreContainer: ExpressibleByIntegerLiteral {
    /// Creates a container whose name is an integer literal.
    public init(integerLiteral number: Int) {
        self.init(name: String(number))
    }
}

extension CodableStoreContainer: CustomStringConvertible {
    /// The name followed by the type, for example `Default-CodableStoreContainer`.
    public var description: String { "\(name)-CodableStoreContainer" }
}
