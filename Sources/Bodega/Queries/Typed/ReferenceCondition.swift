/// The condition that an object refers to an item that meets a query.
struct ReferenceCondition<Object>: Sendable {
    let property: ReferenceProperty<Object>
    /// The engines that are read to know the items.
    let engines: [any StorageBackend]
    private let find: @Sendable (_ isOmitting: Bool) async throws -> (ReferencedItems, [StorageError])
    /// The items; `nil` as long as they are not read.
    private(set) var items: ReferencedItems?

    init<Target>(
        _ property: ReferenceProperty<Object>, in targets: ObjectStorage<Target>, matching query: Query<Target>
    ) {
        self.property = property
        engines = [targets.storage] + query.referencedEngines
        find = References(property: property, targets: targets, query: query).find
    }

    /// Returns the condition with the items to which objects have to refer, and the errors of records that were
    /// omitted.
    func resolved(omittingUndecodable: Bool) async throws -> (ReferenceCondition, [StorageError]) {
        var condition = self
        let (items, errors) = try await find(omittingUndecodable)
        condition.items = items
        return (condition, errors)
    }

    /// Returns whether an object refers to one of the items.
    func isMet(by object: Object) -> Bool {
        guard let items else { preconditionFailure("The items of a reference are read before a query runs.") }
        return property.keys(of: object).contains(where: items.keys.contains)
    }

    /// @unchecked because the objects' types need not be `Sendable`.
    private struct References<Target: Codable>: @unchecked Sendable {
        let property: ReferenceProperty<Object>
        let targets: ObjectStorage<Target>
        let query: Query<Target>

        @Sendable func find(omittingUndecodable: Bool) async throws -> (ReferencedItems, [StorageError]) {
            targets.prepareIndexes()
            // A cache would answer from another moment.
            let found = try await targets.reading(
                query.unordered, omittingUndecodable, fromOriginal: StorageMoment.isCurrent
            ) { query, reader in
                try await query.map(identify).page(from: reader, limit: .max, after: nil).matches
            }
            return (ReferencedItems(found.value, for: property), found.unreadable)
        }

        @Sendable private func identify(
            _ entry: StorageItem, _ match: Query<Target>.Match
        ) -> (key: CacheKey, identifier: Any?) {
            (match.key, ReferencedItems.identifier(of: match.object))
        }
    }
}

extension Query {
    /// The conditions on references.
    var references: [ReferenceCondition<Object>] {
        conditions.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
    }

    /// The engines, in addition to that of the objects, on whose items the result depends.
    package var referencedEngines: [any StorageBackend] { references.flatMap { $0.engines } }

    /// Returns the query with the items to which objects have to refer, and the errors of records that were omitted.
    package func resolved(omittingUndecodable: Bool) async throws -> (query: Query, errors: [StorageError]) {
        var (query, errors) = (self, [StorageError]())
        for (index, condition) in conditions.enumerated() {
            guard case .reference(let reference) = condition else { continue }
            let (resolved, omitted) = try await reference.resolved(omittingUndecodable: omittingUndecodable)
            query.conditions[index] = .reference(resolved)
            errors += omitted
        }
        return (query, errors)
    }
}

extension StorageBackend {
    /// The database of this engine, if it is also that of others.
    package func database(with others: [any StorageBackend]) -> (any StorageDatabase)? {
        guard let database, others.allSatisfy({ $0.database === database }) else { return nil }
        return database
    }
}
