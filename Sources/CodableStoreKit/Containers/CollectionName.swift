import Bodega

/// The name of a type's collection in an engine.
struct CollectionName: Sendable {

    /// The unique name of the collection, in a form that is a valid folder name.
    let folder: String

    /// Whether the name is the default, not chosen by the type.
    let isDefault: Bool

    /// - Parameter type: The type. If it has not chosen a name, its full name is used, because nested types and types
    ///   of other modules can have the same short name. If it has chosen such a name with the suffix, it was renamed.
    /// - Throws: ``Bodega/StorageError/Code/ambiguousCollection`` if the type is private or local and has not chosen a
    ///   name. Its full name contains an address that differs between processes, and would not be unique without it.
    init<Object: BaseCodableStoreable>(of type: Object.Type) throws {
        let name = Object.codableStoreCollectionName
        isDefault = name == String(describing: Swift.type(of: type))
        guard isDefault else {
            folder =
                name.hasSuffix(Self.suffix)
                ? Self.folder(of: String(name.dropLast(Self.suffix.count)))
                : FolderName.name(of: name, excluding: Self.suffix)
            return
        }
        let fullName = String(reflecting: type)
        if fullName.contains("(unknown context at ") {
            throw StorageError(
                .ambiguousCollection,
                """
                The type \(type) is private or local, so its name may not be unique. Declare a \
                codableStoreCollectionName.
                """
            )
        }
        folder = Self.folder(of: fullName)
    }

    /// The folder of a type with a full name.
    private static func folder(of fullName: String) -> String { FolderName.name(of: fullName) + suffix }

    /// The suffix of default names.
    private static let suffix = ".Type"
}
