/// A declaration that a property names an object of another collection of the database, or several.
///
/// ```swift
/// extension Note: Queryable {
///     static let indexes = [Index("dueDate", \Note.dueDate)]
///     static let references = [
///         Reference("folderID", \Note.folderID, to: Folder.self, in: "folders", onRemoval: .remove)
///     ]
/// }
/// ```
///
/// When a folder is removed, its notes are removed in the same transaction, by whichever storage, store or tool of this
/// package removes the folder. See ``StorageReference/Removal`` for what else can happen.
///
/// The declaration takes effect when a store of the objects is opened, or a storage of them writes the first time: it
/// is stored in the database then, and stays there. Programs with other libraries, such as Bodega 2 or `sqlite3`, don't
/// keep it, and a reference can arrive before its object: so a reference can be dangling. That is no error. `bodega
/// verify` lists them.
///
/// A declaration also stays if another version of the type lacks it; the engine's `declareReferences(_:)` replaces all
/// of a collection. If two versions declare different rules for one property, that of the version that was opened last
/// applies, so update all programs that use the database before you change a rule.
///
/// A property that is not a list also has an index, see ``Queryable``.
public struct Reference<Object>: Sendable {
    /// The reference of the member.
    public let storageReference: StorageReference
    /// The property.
    public let keyPath: any PartialKeyPath<Object> & Sendable

    /// The index over the member, `nil` if it is a list.
    let index: Index<Object>?

    private init(
        _ reference: StorageReference, _ keyPath: any PartialKeyPath<Object> & Sendable, _ index: Index<Object>?
    ) {
        (storageReference, self.keyPath, self.index) = (reference, keyPath, index)
    }

    /// Declares a property that names an object.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - target: The type of the other objects.
    ///   - collection: The name of their collection in the database, the empty string for the one without a name.
    ///   - identifierPath: The path to the member in which they store their `id`.
    ///   - removal: What happens to an object when the one that it names is removed. It can't be
    ///     ``StorageReference/Removal/clear``, because the property has to have a value.
    public init<Target: Identifiable>(
        _ path: String, _ keyPath: any KeyPath<Object, Target.ID> & Sendable, to target: Target.Type,
        in collection: String, identifiedBy identifierPath: String = "id", onRemoval removal: StorageReference.Removal
    ) {
        precondition(removal != .clear, "The property \(path) can't be cleared, because it is not optional.")
        let reference = StorageReference(
            path, to: collection, targetPath: identifierPath, onRemoval: removal)
        self.init(reference, keyPath, Index(path, keyPath))
    }

    /// Declares an optional property that names an object.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - target: The type of the other objects.
    ///   - collection: The name of their collection in the database, the empty string for the one without a name.
    ///   - identifierPath: The path to the member in which they store their `id`.
    ///   - removal: What happens to an object when the one that it names is removed.
    public init<Target: Identifiable>(
        _ path: String, _ keyPath: any KeyPath<Object, Target.ID?> & Sendable, to target: Target.Type,
        in collection: String, identifiedBy identifierPath: String = "id", onRemoval removal: StorageReference.Removal
    ) {
        let reference = StorageReference(
            path, to: collection, targetPath: identifierPath, onRemoval: removal)
        self.init(reference, keyPath, Index(path, keyPath))
    }

    /// Declares a property that names any number of objects, such as those of an album.
    ///
    /// There is no index over a list. When one of the objects is removed, all objects with lists are read.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``Index/init(_:_:)``.
    ///   - keyPath: The property.
    ///   - target: The type of the other objects.
    ///   - collection: The name of their collection in the database, the empty string for the one without a name.
    ///   - identifierPath: The path to the member in which they store their `id`.
    ///   - removal: What happens to an object when one of those that it names is removed.
    public init<Target: Identifiable>(
        _ path: String, _ keyPath: any KeyPath<Object, [Target.ID]> & Sendable, to target: Target.Type,
        in collection: String, identifiedBy identifierPath: String = "id", onRemoval removal: StorageReference.Removal
    ) {
        let reference = StorageReference(
            path, isList: true, to: collection, targetPath: identifierPath, onRemoval: removal)
        self.init(reference, keyPath, nil)
    }
}

extension Decodable {
    /// The references that the type declares.
    package static var storageReferences: [StorageReference] {
        func references<Object: Queryable>(of type: Object.Type) -> [StorageReference] {
            type.references.map { $0.storageReference }
        }
        guard let type = self as? any Queryable.Type else { return [] }
        return references(of: type)
    }
}
