/// A declaration that a member of a collection's items names items of another collection.
///
/// When an item that is named is removed, the engine does in the same transaction what ``onRemoval`` says.
///
/// An item is named by a string or a number in the JSON of both: the member at ``path`` has the value, or a list of
/// values, that the other item has at ``targetPath``. A value that no item has is a dangling reference. It is no error,
/// and stays as it is: its item may arrive later.
public struct StorageReference: Hashable, Sendable {
    /// What happens to an item when an item that it names is removed.
    public enum Removal: String, Hashable, Sendable, CaseIterable {
        /// It is removed, too.
        case remove
        /// Its member becomes `null`, or its list loses the value.
        case clear
        /// Nothing is removed: the whole batch throws ``StorageError/Code/referenced``, unless it also removes this
        /// item.
        case refuse
        /// It stays as it is, with a dangling reference.
        case keep
    }

    /// The path to the member, such as `folderID`; see ``StorageIndex/path``.
    public var path: String
    /// Whether the member is a list of values.
    public var isList: Bool
    /// The name of the other collection of the database, the empty one for that without a name.
    public var target: String
    /// The path to the identifier in the items of the other collection.
    public var targetPath: String
    /// What happens when an item of the other collection is removed.
    public var onRemoval: Removal

    /// Creates a declaration.
    ///
    /// - Parameters:
    ///   - path: The path to the member.
    ///   - isList: Whether the member is a list of values.
    ///   - target: The name of the other collection of the database, the empty one for that without a name. It can be
    ///     the collection itself.
    ///   - targetPath: The path to the identifier in the items of the other collection.
    ///   - removal: What happens when an item of the other collection is removed.
    public init(
        _ path: String, isList: Bool = false, to target: String, targetPath: String = "id", onRemoval removal: Removal
    ) {
        (self.path, self.isList, self.target, self.targetPath) = (path, isList, target, targetPath)
        onRemoval = removal
    }

    public static func == (left: StorageReference, right: StorageReference) -> Bool {
        left.path.hasSameBytes(as: right.path) && left.isList == right.isList
            && left.target.hasSameBytes(as: right.target) && left.targetPath.hasSameBytes(as: right.targetPath)
            && left.onRemoval == right.onRemoval
    }

    public func hash(into hasher: inout Hasher) {
        path.hashBytes(into: &hasher)
        target.hashBytes(into: &hasher)
    }
}

/// The references that a collection's items have to items of other collections of its database.
///
/// They are stored in the database, so that they are kept by any program of this package that removes an item, also one
/// that does not know the type of the items that refer to it. Programs with other libraries don't keep them.
public protocol StorageReferences: Sendable {

    /// The references that are declared.
    ///
    /// - Throws: A ``StorageError``.
    func fetchReferences() async throws -> [StorageReference]

    /// Declares the references of the collection, in place of all earlier ones. Items that are stored are not examined.
    ///
    /// - Throws: A ``StorageError``, with ``StorageError/Code/invalidArgument`` if two are of one member.
    func declareReferences(_ references: [StorageReference]) async throws

    /// Whether a reference of any collection names items of this one, so that more can follow from a removal.
    ///
    /// By default, this is `true`. Then a store writes each removal in a batch of its own.
    ///
    /// - Throws: A ``StorageError``.
    func isReferenced() async throws -> Bool
}

extension StorageReferences {
    public func isReferenced() async throws -> Bool { true }
}

extension [StorageReference] {
    /// Checks that no member has two references.
    package func check() throws {
        var paths: Set<ExactText> = []
        for reference in self where !paths.insert(ExactText(reference.path)).inserted {
            throw StorageError(.invalidArgument, "The member \"\(reference.path)\" has two references.")
        }
    }
}
