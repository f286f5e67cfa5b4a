/// A property whose value is the identifier of another item, or the identifiers of several.
///
/// @unchecked because the types need not be `Sendable`, and key paths are immutable.
package struct ReferenceProperty<Object>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Object>
    /// Whether an index over the property can find the items that refer to one.
    let isIndexable: Bool
    /// The keys of the items to which an object refers, in order.
    private let keysOfObject: (Object) -> [CacheKey]
    /// The key of the item with an identifier; `nil` if the value is no identifier of the property's type.
    let keyOfIdentifier: (Any) -> CacheKey?

    package init<Identifier>(
        _ keyPath: any KeyPath<Object, Identifier> & Sendable, _ key: @escaping @Sendable (Identifier) -> CacheKey
    ) {
        self.init(keyPath, isIndexable: true, key) { [key($0[keyPath: keyPath])] }
    }

    package init<Identifier>(
        _ keyPath: any KeyPath<Object, Identifier?> & Sendable, _ key: @escaping @Sendable (Identifier) -> CacheKey
    ) {
        self.init(keyPath, isIndexable: true, key) { $0[keyPath: keyPath].map { [key($0)] } ?? [] }
    }

    package init<Identifier>(
        _ keyPath: any KeyPath<Object, [Identifier]> & Sendable, _ key: @escaping @Sendable (Identifier) -> CacheKey
    ) {
        // In an index, a list is one text.
        self.init(keyPath, isIndexable: false, key) { $0[keyPath: keyPath].map(key) }
    }

    private init<Identifier>(
        _ keyPath: PartialKeyPath<Object>, isIndexable: Bool, _ key: @escaping (Identifier) -> CacheKey,
        _ keys: @escaping (Object) -> [CacheKey]
    ) {
        (self.keyPath, self.isIndexable, keysOfObject) = (keyPath, isIndexable, keys)
        keyOfIdentifier = { ($0 as? Identifier).map(key) }
    }

    /// The keys of the items to which an object refers, in the order of the property's value.
    package func keys(of object: Object) -> [CacheKey] { keysOfObject(object) }
}

/// The items to which objects have to refer.
///
/// @unchecked because identifiers need not be `Sendable`. They are only compared.
final class ReferencedItems: @unchecked Sendable {
    /// The keys of the items.
    let keys: Set<CacheKey>
    /// The identifiers of all of them; `nil` if they are not known.
    let identifiers: [Any]?

    /// - Parameters:
    ///   - items: The keys of the items, and the identifiers that they have.
    ///   - property: The property that refers to them.
    init(_ items: [(key: CacheKey, identifier: Any?)], for property: ReferenceProperty<some Any>) {
        keys = Set(items.map(\.key))
        // An item may be stored under another key than that of its identifier.
        let areKnown = items.allSatisfy { key, identifier in identifier.flatMap(property.keyOfIdentifier) == key }
        identifiers = areKnown ? items.compactMap(\.identifier) : nil
    }

    /// The identifier of an item, if its type is `Identifiable`.
    static func identifier(of object: Any) -> Any? {
        func identifier(of object: some Identifiable) -> Any { object.id }
        return (object as? any Identifiable).map { identifier(of: $0) }
    }
}

extension ReferenceProperty where Object: Codable {
    /// Maximum number of identifiers that narrow. More of them take longer to find one by one than all items to read.
    private static var maximumIdentifiers: Int { 10_000 }

    /// What it says about members that an object refers to one of several items.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - coder: The coder of the objects, if they are JSON.
    ///   - indexes: The indexes that can be used.
    func condition(
        _ items: ReferencedItems, for coder: JSONObjectCoder?, _ indexes: [Index<Object>]
    ) -> QueryCondition {
        if items.keys.isEmpty { return .constant(false) }
        guard isIndexable, let coder, let identifiers = items.identifiers,
            identifiers.count <= Self.maximumIdentifiers, let index = indexes.first(where: { $0.keyPath == keyPath })
        else { return .opaque }
        return PredicateTranslation(indexes: indexes, dates: coder.dateForm).membership(index, of: identifiers)
            ?? .opaque
    }
}
