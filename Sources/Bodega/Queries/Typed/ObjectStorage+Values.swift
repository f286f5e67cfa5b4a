import Foundation

extension ObjectStorage {

    /// Returns the values of a property that the objects have which match a query, each once, with the number of
    /// objects.
    ///
    /// ```swift
    /// for tag in try await notes.values(of: \.tag) { print(tag.value, tag.count) }
    /// ```
    ///
    /// The values are in ascending order, then NaN, and `nil` is the last one. Values of a type that is not
    /// `Comparable` are in the order of their raw values, or else of their descriptions.
    ///
    /// With an index over the property, see ``Queryable``, this reads one object for each value, if there are at most
    /// 1,000 values and the query has no condition, or one that is only about the property. The index counts the
    /// others, also records that can't be decoded for another reason. Objects with fractions, very long texts, and
    /// texts with combining marks are read, too, because the index can be wrong about them. Otherwise, all matches are
    /// read, of which only the values are kept.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - query: The query; by default, all objects match. Its order has no effect.
    /// - Returns: The values that occur.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func values<Value: Hashable & Sendable>(
        of property: any KeyPath<Object, Value> & Sendable, matching query: Query<Object> = Query()
    ) async throws -> [ValueCount<Value>] {
        prepareIndexes()
        if let counts = try await countedByIndex(property, query) { return ValueCount.sorted(counts) }
        return ValueCount.sorted(try await count(query, by: property))
    }

    /// Returns what ``values(of:matching:)`` does, without records that can't be decoded or decrypted.
    ///
    /// - Returns: The values, and the errors of the records that were omitted.
    package func valuesOmittingUndecodable<Value: Hashable & Sendable>(
        of property: any KeyPath<Object, Value> & Sendable, matching query: Query<Object>
    ) async throws -> (values: [ValueCount<Value>], undecodable: [StorageError]) {
        let read = try await reduce(query, omitting: true, into: [:], Properties(property).tally)
        return (ValueCount.sorted(read.value), read.unreadable)
    }

    /// - Returns: `nil` if no index can count the values.
    private func countedByIndex<Value: Hashable & Sendable>(
        _ property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object>
    ) async throws -> [Value: Int]? {
        guard let database = storage.database, let json = coder as? JSONObjectCoder, json.hasKey(for: Value.self),
            query.referencedEngines.isEmpty
        else { return nil }
        let counts = MovedValue<[Value: Int]>()
        let body = MovedBody { [self] in
            counts.value = nil
            // A file that is only read has no moment, and another process can write between two reads.
            guard StorageMoment.isCurrent else { return }
            counts.value = try await reading(query, false, fromOriginal: true) { running, engine in
                // What is known about an index is learnt by the first read.
                let trusted = json.trusts.trusted(Object.queryIndexes)
                guard query.conditions.isEmpty || running.countsByIndex,
                    let index = trusted.first(where: { $0.keyPath == property })?.storageIndex,
                    try await engine.fetchIndexes().contains(index)
                else { return nil }
                return try await running.countValues(
                    in: engine, by: index, hasAbsentValue: Value.self is any OptionalType.Type,
                    Properties(property).value)
            }.value
        }
        try await database.atOneMoment(body.run)
        return counts.value
    }
}

extension JSONObjectCoder {
    /// Whether equal keys in an index over values of a type are those of equal values.
    fileprivate func hasKey(for type: Any.Type) -> Bool {
        let type = (type as? any OptionalType.Type)?.wrapped ?? type
        let isNumber = type is any BinaryFloatingPoint.Type || type is any RawRepresentable.Type
        // NaN can be a text, but it is not equal to itself.
        if isNumber, storesNonFiniteNumbers { return false }
        return isPlainForm(type)
    }
}
