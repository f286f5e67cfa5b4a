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
    ///   other modules can have the same short one.
    /// - Throws: ``Bodega/StorageError/Code/ambiguousCollection`` if it is private or local and has not chosen a name: its
    ///   full name holds an address, which differs from process to process, and without that others may have the same.
    init<Object: BaseCodableStoreable>(of type: Object.Type) throws {
        let name = Object.codableStoreCollectionName
        isDefault = name == String(describing: Swift.type(of: type))
        guard isDefault else {
            folder = FolderName.name(of: name, excluding: Self.suffix)
            return
        }
        let fullName = String(reflecting: type)
        if fullName.contains("(unknown context at ") {
            throw StorageError(
                .ambiguousCollection,
                """
                \(fullName) is private or local, so its name does not tell it from other types. Give it a \
                codableStoreCollectionName.
                """
            )
        }
        folder = FolderName.name(of: fullName) + Self.suffix
    }

    /// What the folders of default names end in.
    private static let suffix = ".Type"
}
