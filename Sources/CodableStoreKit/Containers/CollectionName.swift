import Bodega

/// How the collection of a type is named on a medium.
struct CollectionName: Sendable {

    /// What tells collections apart, safe to be a folder's name.
    let folder: String

    /// Whether the type has not chosen the name.
    let isDefault: Bool

    /// The same for types that share a collection.
    var identity: String { folder }

    /// - Parameter type: The type. If it has not chosen a name, its full name counts, because nested types and types of
    ///   other modules can have the same short one. That of a private or local type holds an address, which differs from
    ///   process to process and is left out: two such types of one name are told apart by nobody, so the second is refused.
    init<Object: BaseCodableStoreable>(of type: Object.Type) {
        let name = Object.codableStoreCollectionName
        isDefault = name == String(describing: Swift.type(of: type))
        folder =
            isDefault
            ? FolderName.name(of: Self.stableName(of: type)) + Self.suffix
            : FolderName.name(of: name, besides: Self.suffix)
    }

    /// What the folders of default names end in.
    private static let suffix = ".Type"

    /// A type's full name without addresses.
    static func stableName(of type: Any.Type) -> String {
        var rest = String(reflecting: type)[...]
        let marker = "(unknown context at "
        var name = ""
        while let start = rest.firstRange(of: marker) {
            name += rest[..<start.lowerBound] + "(private)"
            rest = rest[start.upperBound...].drop { $0 != ")" }.dropFirst()
        }
        return name + rest
    }
}
