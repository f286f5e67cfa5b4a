extension Query {

    /// Returns a query for those objects of this query that refer to an item which meets another query.
    ///
    /// ```swift
    /// let work = Query<Folder>(where: #Predicate { $0.name == "Work" })
    /// let query = Query<Note>(sortedBy: SortDescriptor(\.title)).filter(\.folderID, in: folders, matching: work)
    /// let page = try await notes.fetch(query, limit: 50)
    /// ```
    ///
    /// When the query runs, it first reads which items match, then the objects that refer to them. With indexes over
    /// the members of both queries, see ``Queryable``, it reads few others. If both collections belong to one database,
    /// both reads are of one moment.
    ///
    /// - Parameters:
    ///   - property: The property with the identifier of an item. The item's key is that of the identifier, see
    ///     ``KeyedIdentifier``.
    ///   - targets: The storage of the items.
    ///   - query: The query that an item must meet. Its order does not matter.
    public func filter<Target: Identifiable>(
        _ property: any KeyPath<Object, Target.ID> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>
    ) -> Query where Target.ID: KeyedIdentifier {
        filter(ReferenceProperty(property, Target.ID.itemKey), targets, query)
    }

    /// Returns a query for those objects of this query that refer to an item which meets another query. An object whose
    /// property is `nil` refers to none.
    public func filter<Target: Identifiable>(
        _ property: any KeyPath<Object, Target.ID?> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>
    ) -> Query where Target.ID: KeyedIdentifier {
        filter(ReferenceProperty(property, Target.ID.itemKey), targets, query)
    }

    /// Returns a query for those objects of this query of whose references at least one is to an item which meets
    /// another query. No index narrows the objects by a list.
    public func filter<Target: Identifiable>(
        _ property: any KeyPath<Object, [Target.ID]> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>
    ) -> Query where Target.ID: KeyedIdentifier {
        filter(ReferenceProperty(property, Target.ID.itemKey), targets, query)
    }

    /// Returns a query for those objects of this query that refer to an item which meets another query, with
    /// identifiers of any type.
    ///
    /// - Parameters:
    ///   - property: The property with the identifier of an item.
    ///   - targets: The storage of the items.
    ///   - query: The query that an item must meet. Its order does not matter.
    ///   - key: Returns the key under which the item with an identifier is stored.
    public func filter<Target, Identifier>(
        _ property: any KeyPath<Object, Identifier> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>, key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> Query {
        filter(ReferenceProperty(property, key), targets, query)
    }

    /// Returns a query for those objects of this query that refer to an item which meets another query, with
    /// identifiers of any type.
    public func filter<Target, Identifier>(
        _ property: any KeyPath<Object, Identifier?> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>, key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> Query {
        filter(ReferenceProperty(property, key), targets, query)
    }

    /// Returns a query for those objects of this query of whose references at least one is to an item which meets
    /// another query, with identifiers of any type.
    public func filter<Target, Identifier>(
        _ property: any KeyPath<Object, [Identifier]> & Sendable, in targets: ObjectStorage<Target>,
        matching query: Query<Target>, key: @escaping @Sendable (Identifier) -> CacheKey
    ) -> Query {
        filter(ReferenceProperty(property, key), targets, query)
    }

    private func filter<Target>(
        _ property: ReferenceProperty<Object>, _ targets: ObjectStorage<Target>, _ query: Query<Target>
    ) -> Query {
        var filtered = self
        filtered.conditions.append(.reference(ReferenceCondition(property, in: targets, matching: query)))
        return filtered
    }
}
