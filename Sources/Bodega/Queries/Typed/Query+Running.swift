import Foundation
import RecordCoder

extension Query {
    /// An object that matches, with its key.
    package typealias Match = (key: CacheKey, object: Object)
}

extension Query where Object: Codable {

    /// The query in the form in which it runs.
    ///
    /// - Parameters:
    ///   - coder: The coder of the records.
    ///   - undecodable: Receives the errors of records that can't be decoded; `nil` makes such a record an error.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the query can't be ordered.
    package func running(
        decodedBy coder: any ObjectCoder, undecodable: (@Sendable (StorageError) -> Void)?
    ) throws -> StorageQuery<Match> {
        let json = coder as? JSONObjectCoder
        let indexes = json?.trusts.trusted(Object.queryIndexes) ?? []
        let ordering = try QueryOrdering(self, coder: json, indexes: indexes)
        let filters = conditions.compactMap { if case .text(let filter) = $0 { filter } else { nil } }
        let predicates = conditions.compactMap { if case .predicate(let predicate) = $0 { predicate } else { nil } }
        if !filters.isEmpty, json == nil {
            throw StorageError(
                .invalidArgument, "A query with a filter expression needs objects that are stored as JSON.")
        }
        let usable = usableIndexes(indexes, for: json)
        let ofPredicates = condition(of: predicates, for: json, usable)
        let references = references
        let ofReferences = references.reduce(ofPredicates) { condition, reference in
            .conjunction(
                condition, reference.items.map { reference.property.condition($0, for: json, usable) } ?? .opaque)
        }
        let ofObjects = search == nil ? ofReferences : .conjunction(ofReferences, .opaque)
        // An index can know items that can't be decoded, and in SQLite some that are not JSON.
        var countsByIndex = undecodable == nil && filters.isEmpty && !predicates.isEmpty && references.isEmpty
        if case .constant = ofPredicates { countsByIndex = false }
        let decision = Decision(
            filters: filters, predicates: predicates, references: references, search: search, condition: ofObjects,
            ordering: ordering, coder: coder, isJSON: json != nil, undecodable: undecodable)
        var query = StorageQuery(
            condition: filters.reduce(ofObjects) { .conjunction($0, $1.condition) },
            order: ordering.running, decode: filters.isEmpty ? decision.decode : nil,
            glance: decision.glance, examining: decision.examine)
        query.countsByIndex = countsByIndex
        query.search = json.flatMap(storageSearch)
        return query
    }

    /// The search by an index, `nil` if there is none, or the stored texts need not be those of the objects.
    package func storageSearch(for coder: JSONObjectCoder) -> StorageSearch? {
        guard let search, let index = Object.searchIndex, coder.trusts.trustsSearch(of: Object.self) else { return nil }
        var found = StorageSearch(index, search.expression)
        if isByRelevance, let ranking = search.ranking {
            found.relevance = StorageSearch.Relevance(weights: search.fields.map(\.weight), ranking: ranking)
        }
        return found
    }

    /// The places of objects in the order of the query.
    func ordering(encodedBy coder: any ObjectCoder) throws -> QueryOrdering<Object> {
        let json = coder as? JSONObjectCoder
        return try QueryOrdering(self, coder: json, indexes: json?.trusts.trusted(Object.queryIndexes) ?? [])
    }

    /// The indexes whose keys have the order of the values.
    private func usableIndexes(_ indexes: [Index<Object>], for json: JSONObjectCoder?) -> [Index<Object>] {
        // Infinity and NaN can be texts, which have another order.
        guard json?.storesNonFiniteNumbers == true else { return indexes }
        return indexes.filter { index in
            let type = type(of: index.keyPath).valueType
            return ![Double.self, Float.self, Double?.self, Float?.self].contains { $0 == type }
        }
    }

    private func condition(
        of predicates: [Predicate<Object>], for json: JSONObjectCoder?, _ indexes: [Index<Object>]
    ) -> QueryCondition {
        if predicates.isEmpty { return .constant(true) }
        guard let json else { return .opaque }
        let translation = PredicateTranslation(indexes: indexes, dates: json.dateForm)
        return predicates.map(translation.condition).reduce(.constant(true), QueryCondition.conjunction)
    }

    /// Decides about records.
    ///
    /// @unchecked because the objects' type need not be `Sendable`. Its `init(from:)` may run on any thread, as it does
    /// when a task fetches.
    private struct Decision: @unchecked Sendable {
        let filters: [JSONFilter]
        let predicates: [Predicate<Object>]
        let references: [ReferenceCondition<Object>]
        let search: SearchCondition<Object>?
        /// What the predicates and references say about members.
        let condition: QueryCondition
        let ordering: QueryOrdering<Object>
        let coder: any ObjectCoder
        let isJSON: Bool
        let undecodable: (@Sendable (StorageError) -> Void)?

        @Sendable func examine(_ entry: StorageItem, _ receive: (Match) -> Void) throws -> QueryKeys? {
            do throws(StorageError) {
                return try decide(entry, receive)
            } catch {
                try omit(error)
                return nil
            }
        }

        @Sendable func decode(_ entry: StorageItem, _ receive: (Match) -> Void) throws -> Bool {
            do throws(StorageError) {
                receive((entry.key, try coder.decode(Object.self, from: entry.data, for: entry.key)))
                return true
            } catch {
                try omit(error)
                return false
            }
        }

        /// Reports the error of a record that is left out, or throws it.
        private func omit(_ error: StorageError) throws {
            guard let undecodable, error.code == .decodingFailed else { throw error }
            undecodable(error)
        }

        /// What the JSON says, as far as it is certain without the object.
        @Sendable func glance(_ entry: StorageItem) -> QueryGlance {
            var keys: [StorageSortKey?] = []
            guard let verdict = look(entry, &keys) else { return .nothing }
            if verdict == .no { return .excluded }
            // Only the object says how relevant it is.
            if ordering.isByRelevance { return .nothing }
            let known = keys.compactMap { $0 }
            return known.count == keys.count ? .keys(QueryKeys(known), isMatch: verdict == .yes) : .nothing
        }

        /// Looks at a record without decoding it.
        ///
        /// - Parameter keys: Receives the key of each term, `nil` if only the object determines it.
        /// - Returns: Whether it matches; `nil` if it is not JSON.
        private func look(_ entry: StorageItem, _ keys: inout [StorageSortKey?]) -> QueryCondition.Verdict? {
            if !isJSON { return nil }
            return entry.data.withUnsafeBytes { bytes in
                // The decoder reports what is wrong with a text that is not JSON.
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return nil }
                for filter in filters where !filter.accepts(bytes, range) { return .no }
                let verdict = condition.verdict(bytes, range)
                if verdict == .no { return .no }
                keys = ordering.storedKeys(bytes, range)
                return verdict
            }
        }

        private func decide(
            _ entry: StorageItem, _ receive: (Match) -> Void
        ) throws(StorageError) -> QueryKeys? {
            var stored: [StorageSortKey?] = []
            let known = look(entry, &stored)
            // A coder can decode some texts that are not JSON. A filter in text can't.
            if known == nil, !filters.isEmpty { throw .notJSON(Object.self, for: entry.key) }
            if known == .no { return nil }
            let verdict = known ?? .unknown
            let object = try coder.decode(Object.self, from: entry.data, for: entry.key)
            do {
                // A predicate takes as long as decoding the object.
                if verdict != .yes {
                    for predicate in predicates where try !predicate.evaluate(object) { return nil }
                    for reference in references where !reference.isMet(by: object) { return nil }
                }
                if let search {
                    let counts = search.counts(of: object)
                    guard search.isMet(by: counts) else { return nil }
                    if ordering.isByRelevance {
                        receive((entry.key, object))
                        return search.keys(of: counts)
                    }
                }
                receive((entry.key, object))
                return ordering.keys(of: object, stored: stored)
            } catch let error as StorageError {
                throw error
            } catch {
                throw StorageError(
                    .invalidArgument, "The query's predicate could not be evaluated for an object.", key: entry.key,
                    cause: error)
            }
        }
    }
}

extension StorageError {
    fileprivate static func notJSON(_ type: Any.Type, for key: CacheKey) -> StorageError {
        StorageError(
            .decodingFailed,
            """
            The record of the \(type) is not JSON (RFC 8259), so a filter expression can't decide about it. It stays \
            stored.
            """,
            key: key)
    }
}

extension Decodable {
    /// The properties with an index, each as an index of its own: those of the indexes that the type declares, and of
    /// its references.
    static var queryIndexes: [Index<Self>] {
        var properties: [Index<Self>] = []
        for property in declaredIndexes.flatMap({ $0.properties })
        where !properties.contains(where: { $0.keyPath == property.keyPath }) {
            properties.append(property)
        }
        return properties
    }

    /// The indexes that an engine should have for the type.
    package static var storageIndexes: [StorageIndex] {
        declaredIndexes.map { $0.storageIndex } + (searchIndex.map { [$0] } ?? [])
    }

    /// The index for searches in the texts that the type declares, `nil` if it declares none.
    static var searchIndex: StorageIndex? { (self as? any Queryable.Type)?.declaredSearchIndex }

    /// The indexes that the type declares, and those of its references.
    private static var declaredIndexes: [Index<Self>] {
        func indexes<Object: Queryable>(of type: Object.Type) -> Any {
            var indexes = type.indexes
            for index in type.references.compactMap({ $0.index })
            where !indexes.contains(where: { $0.storageIndex.isOver(index.storageIndex.path) }) {
                indexes.append(index)
            }
            return indexes
        }
        guard let type = self as? any Queryable.Type else { return [] }
        return indexes(of: type) as? [Index<Self>] ?? []
    }
}

extension Queryable {
    fileprivate static var declaredSearchIndex: StorageIndex? {
        searchable.isEmpty ? nil : .search(searchable.map(\.path), form: searchForm)
    }
}
