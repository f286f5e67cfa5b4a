/// A type whose objects can be found by the values of their properties.
///
/// ```swift
/// extension Note: Queryable {
///     static let indexes = [Index("dueDate", \Note.dueDate), Index("isDone", \Note.isDone)]
/// }
/// ```
///
/// Objects of any type can be queried. The indexes of a `Queryable` type make its queries fast: the first query on an engine
/// that can have indexes begins to create them in the background. Without an index, a query reads all objects.
public protocol Queryable: Codable {
    /// The indexes over the type's properties.
    static var indexes: [Index<Self>] { get }
}

/// A declaration that a property is stored in a certain member of the JSON, and that engines have an index over it.
public struct Index<Object>: Sendable {
    /// The index over the member.
    public let storageIndex: StorageIndex
    /// The property.
    public let keyPath: any PartialKeyPath<Object> & Sendable

    /// Declares an index.
    ///
    /// - Parameters:
    ///   - path: The path to the member, such as `dueDate`, or `owner.name` for a member of a member. A backslash escapes a
    ///     dot in a name.
    ///   - keyPath: The property. Its value must be stored in this member in the form that the storage's coder gives it; if
    ///     the property is optional, `nil` must be stored as `null`, or without the member.
    public init<Value>(_ path: String, _ keyPath: any KeyPath<Object, Value> & Sendable) {
        storageIndex = StorageIndex(path, isForText: ConstantForm.isText(Value.self))
        self.keyPath = keyPath
    }
}
