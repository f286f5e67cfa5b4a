/// A query that includes related items: those to which its objects refer, or those that refer to its objects.
///
/// ```swift
/// let query = Query<Note>(sortedBy: SortDescriptor(\.title)).including(\.folderID, from: folders)
/// let page = try await notes.fetch(query, limit: 50)
/// for row in page.rows { print(row.object.title, row.related?.name ?? "no folder") }
///
/// let all = try await folders.fetch(Query<Folder>().including(\Note.folderID, of: notes))
/// for row in all.rows { print(row.object.name, row.related.count) }
/// ```
///
/// A page takes one read more than without related items, however many objects it has: two, or three if it begins at a
/// cursor. If both collections belong to one database, all are of one moment, so a page never shows an object from
/// before a transaction and a related item from after it.
///
/// ## Related items
/// - For an identifier, the related item is optional: `nil` if there is no item with this identifier, or the property
///   is `nil`.
/// - For a list of identifiers, the related items are in the order of the list, as often as they are in it. Identifiers
///   without an item are left out.
/// - The items that refer to an object are in the order of their insertion, each once. They are found by an index over
///   the property, see ``Queryable``, if there is one, the property is no list, and its values are texts, UUIDs,
///   numbers, or cases of an enumeration. Otherwise all items of their collection are read.
public struct RelatedQuery<Object, Related: RelatedValue>: Sendable where Related.Target: Codable {
    /// The query of the objects.
    public var query: Query<Object>

    package let relation: Relation<Object, Related.Target>

    fileprivate init(_ query: Query<Object>, _ relation: Relation<Object, Related.Target>) {
        (self.query, self.relation) = (query, relation)
    }
}

extension Query {

    // MARK: References to other items

    /// Returns a query that includes the item to which each object refers.
    ///
    /// - Parameters:
    ///   - property: The property with the identifier of the item. The item's key is that of the identifier, see
    ///     ``KeyedIdentifier``.
    ///   - targets: The storage of the items.
    public func including<Target: Identifiable>(
        _ property: any KeyPath<Object, Target.ID> & Sendable, from targets: ObjectStorage<Target>
    ) -> RelatedQuery<Object, Target?> where Target.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Target.ID.itemKey), to: targets))
    }

    /// Returns a query that includes the item to which each object refers, if it does.
    public func including<Target: Identifiable>(
        _ property: any KeyPath<Object, Target.ID?> & Sendable, from targets: ObjectStorage<Target>
    ) -> RelatedQuery<Object, Target?> where Target.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Target.ID.itemKey), to: targets))
    }

    /// Returns a query that includes the items to which each object refers, in the order of its list.
    public func including<Target: Identifiable>(
        _ property: any KeyPath<Object, [Target.ID]> & Sendable, from targets: ObjectStorage<Target>
    ) -> RelatedQuery<Object, [Target]> where Target.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Target.ID.itemKey), to: targets))
    }

    /// Returns a query that includes the item to which each object refers, with identifiers of any type.
    ///
    /// - Parameters:
    ///   - property: The property with the identifier of the item.
    ///   - targets: The storage of the items.
    ///   - key: Returns the key under which the item with an identifier is stored.
    public func including<Target, Identifier>(
        _ property: any KeyPath<Object, Identifier> & Sendable, from targets: ObjectStorage<Target>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, Target?> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), to: targets))
    }

    /// Returns a query that includes the item to which each object refers, if it does, with identifiers of any type.
    public func including<Target, Identifier>(
        _ property: any KeyPath<Object, Identifier?> & Sendable, from targets: ObjectStorage<Target>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, Target?> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), to: targets))
    }

    /// Returns a query that includes the items to which each object refers, in the order of its list, with identifiers
    /// of any type.
    public func including<Target, Identifier>(
        _ property: any KeyPath<Object, [Identifier]> & Sendable, from targets: ObjectStorage<Target>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, [Target]> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), to: targets))
    }

    // MARK: References from other items

    /// Returns a query that includes the items that refer to each object.
    ///
    /// - Parameters:
    ///   - property: The property of the items with the identifier of an object. The object's key is that of the
    ///     identifier, see ``KeyedIdentifier``.
    ///   - sources: The storage of the items.
    public func including<Source>(
        _ property: any KeyPath<Source, Object.ID> & Sendable, of sources: ObjectStorage<Source>
    ) -> RelatedQuery<Object, [Source]> where Object: Identifiable, Object.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Object.ID.itemKey), from: sources))
    }

    /// Returns a query that includes the items that refer to each object.
    public func including<Source>(
        _ property: any KeyPath<Source, Object.ID?> & Sendable, of sources: ObjectStorage<Source>
    ) -> RelatedQuery<Object, [Source]> where Object: Identifiable, Object.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Object.ID.itemKey), from: sources))
    }

    /// Returns a query that includes the items whose lists refer to each object.
    public func including<Source>(
        _ property: any KeyPath<Source, [Object.ID]> & Sendable, of sources: ObjectStorage<Source>
    ) -> RelatedQuery<Object, [Source]> where Object: Identifiable, Object.ID: KeyedIdentifier {
        RelatedQuery(self, Relation(ReferenceProperty(property, Object.ID.itemKey), from: sources))
    }

    /// Returns a query that includes the items that refer to each object, with identifiers of any type.
    ///
    /// - Parameters:
    ///   - property: The property of the items with the identifier of an object.
    ///   - sources: The storage of the items.
    ///   - key: Returns the key under which the object with an identifier is stored.
    public func including<Source, Identifier>(
        _ property: any KeyPath<Source, Identifier> & Sendable, of sources: ObjectStorage<Source>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, [Source]> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), from: sources))
    }

    /// Returns a query that includes the items that refer to each object, with identifiers of any type.
    public func including<Source, Identifier>(
        _ property: any KeyPath<Source, Identifier?> & Sendable, of sources: ObjectStorage<Source>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, [Source]> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), from: sources))
    }

    /// Returns a query that includes the items whose lists refer to each object, with identifiers of any type.
    public func including<Source, Identifier>(
        _ property: any KeyPath<Source, [Identifier]> & Sendable, of sources: ObjectStorage<Source>,
        key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> RelatedQuery<Object, [Source]> {
        RelatedQuery(self, Relation(ReferenceProperty(property, key), from: sources))
    }
}
