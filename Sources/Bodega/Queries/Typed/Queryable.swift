/// A type whose objects can be found by the values of their properties.
///
/// ```swift
/// extension Note: Queryable {
///     static let indexes = [Index("dueDate", \Note.dueDate), Index("isDone", \Note.isDone)]
/// }
/// ```
///
/// Objects of any type can be queried. The indexes of a `Queryable` type make its queries fast: the first query on an
/// engine that can have indexes begins to create them in the background. Without an index, a query reads all objects.
///
/// ## When an index is used
/// An index knows the member in the JSON, not the property. Whether the one determines the other is up to the type's
/// decoder and encoder. So the first objects that are encoded or read are an experiment: the member of an index gets
/// other values, and the type decodes them; as for any record, a decoder throws for a value that it does not accept,
/// and does not end the program, as `precondition` does.
/// The index is used if the decoder gives back each value that it accepts, and a missing or `null` member as `nil`, if
/// the property is optional. If it accepts other values, for example a text as a number, or an unknown text as a
/// fallback case of an enumeration, queries act as if there were no index: they take longer, and find the same.
///
/// A property that is not optional may have a default for a missing or `null` member, and the type may leave the member
/// out when it encodes that default. If an optional property has a default other than `nil`, a missing member does not
/// say that it is `nil`, so the index is not used.
///
/// An index over a member that does not have the property's value, for example because of `CodingKeys`, is not used. An
/// error in the log says so, and why, once for each coder.
///
/// The experiment can't notice a decoder that treats some records in another way than the first ones, for example one
/// that reads an optional property from an older member if the declared one is missing, or an `init(rawValue:)` of an
/// enumeration that accepts the former name of a case. Nor does it notice that cases of an enumeration are equal by an
/// `==` of its own, unless that is `CaseIterable`. Don't declare an index over such a property.
public protocol Queryable: Codable {
    /// The indexes over the type's properties. By default, there are none.
    static var indexes: [Index<Self>] { get }

    /// The properties that name other objects, see ``Reference``. By default, there are none.
    static var references: [Reference<Self>] { get }

    /// The properties whose texts can be searched, see ``Searchable``. By default, there are none.
    static var searchable: [Searchable<Self>] { get }

    /// How the texts are divided for a search, by default ``SearchForm/words``.
    static var searchForm: SearchForm { get }
}

extension Queryable {
    public static var indexes: [Index<Self>] { [] }

    public static var references: [Reference<Self>] { [] }

    public static var searchable: [Searchable<Self>] { [] }

    public static var searchForm: SearchForm { .words }
}

/// A declaration that a property is stored in a certain member of the JSON, and that engines have an index over it.
///
/// An index over several properties serves queries that compare the first ones for equality, and have a range of the
/// next one, or the order of all others:
///
/// ```swift
/// static let indexes = [Index("isDone", \Note.isDone).then("dueDate", \Note.dueDate)]
/// ```
///
/// With it, the open notes are read in the order of their dates, forward or backward. It also finds the notes that are
/// open or done, with any dates, but not the notes of a day: for that, its first property has to be the date.
///
/// An index of only those objects that meet a condition is smaller, and costs less when other objects are written, see
/// ``where(_:_:equals:)``.
public struct Index<Object>: Sendable {
    /// The index over the member, or the members.
    public let storageIndex: StorageIndex
    /// The first property.
    public let keyPath: any PartialKeyPath<Object> & Sendable
    /// The other properties, each as an index of its own, also those of the condition.
    private var others: [Index] = []

    /// The properties, each as an index of its own.
    var properties: [Index] {
        [Index(StorageIndex(storageIndex.members[storageIndex.constants.count]), keyPath)] + others
    }

    private init(
        _ storageIndex: StorageIndex, _ keyPath: any PartialKeyPath<Object> & Sendable, _ others: [Index] = []
    ) {
        (self.storageIndex, self.keyPath, self.others) = (storageIndex, keyPath, others)
    }

    /// Declares an index.
    ///
    /// - Parameters:
    ///   - path: The path to the member, such as `dueDate`, or `owner.name` for a member of a member. A backslash
    ///     escapes a dot in a name.
    ///   - keyPath: The property. Its value must be stored in this member in the form that the storage's coder gives
    ///     it; if the property is optional, `nil` must be stored as `null`, or without the member. Otherwise the index
    ///     is not used, see ``Queryable``.
    public init<Value>(_ path: String, _ keyPath: any KeyPath<Object, Value> & Sendable) {
        storageIndex = StorageIndex(path, isForText: ConstantForm.isText(Value.self))
        self.keyPath = keyPath
    }

    /// Declares an index whose items with equal values of these properties are ordered by another one.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the other property is stored in, see ``init(_:_:)``.
    ///   - keyPath: The other property.
    /// - Returns: An index over these properties and the other one.
    public func then<Value>(_ path: String, _ keyPath: any KeyPath<Object, Value> & Sendable) -> Index {
        let next = Index(path, keyPath)
        return Index(storageIndex.followed(by: next.storageIndex.first), self.keyPath, others + [next])
    }

    /// Declares an index of only those objects whose property has a certain value: a *partial* index.
    ///
    /// ```swift
    /// static let indexes = [Index("dueDate", \Note.dueDate).where("isDone", \Note.isDone, equals: false)]
    /// ```
    ///
    /// With it, the open notes are read in the order of their dates, and found by them, as with
    /// `Index("isDone", \Note.isDone).then("dueDate", \Note.dueDate)`. The notes that are done are not in it. So it
    /// takes less space, and writing such a note takes less time. It serves only queries whose predicate requires the
    /// same, joined to the rest by `&&`, such as `!$0.isDone && $0.dueDate < today`.
    ///
    /// Objects that are stored without the member, or with `null`, are in the index, too: if most objects have `nil`, a
    /// partial index for another value saves little.
    ///
    /// - Parameters:
    ///   - path: The path to the member that the property is stored in, see ``init(_:_:)``.
    ///   - keyPath: The property.
    ///   - value: A Boolean, an integer below 2^48, a string of at most 200 bytes without control characters, an
    ///     enumeration with such a raw value, or `nil`. With another value, the program ends.
    /// - Returns: An index of the objects whose property has the value, and that are in this index.
    public func `where`<Value>(
        _ path: String, _ keyPath: any KeyPath<Object, Value> & Sendable, equals value: Value
    ) -> Index {
        let property = Index(path, keyPath)
        guard let key = ConstantForm.onlyKey(of: value), key.canBeConstant else {
            preconditionFailure("An index can't have the condition that \"\(path)\" has the value \(value).")
        }
        let partial = storageIndex.where(path, equals: key, isForText: property.storageIndex.isForText)
        return Index(partial, self.keyPath, others + [property])
    }
}
