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
        let indexes = json == nil ? [] : Object.queryIndexes
        let terms = try order.map { term in
            guard let keyPath = term.keyPath else {
                throw StorageError(
                    .invalidArgument,
                    "A sort descriptor of the query has a comparator of its own. Use descriptors for key paths.")
            }
            let index = indexes.first { $0.keyPath == keyPath }?.storageIndex
            return (
                keyPath: keyPath, term: QueryTerm(path: index?.path, isDescending: term.isDescending),
                query: index?.query
            )
        }
        let condition = condition(for: json, indexes)
        let filter = self.condition
        // A filter in text needs the JSON itself.
        if case .text = filter, json == nil {
            throw StorageError(
                .invalidArgument, "A query with a filter expression needs objects that are stored as JSON.")
        }
        // Not key paths: in generic code, each use of one creates it again, which takes as long as decoding an object.
        let decision = Decision(
            condition: condition, filter: filter, keyPaths: terms.map { $0.keyPath }, queries: terms.map { $0.query },
            coder: coder, isJSON: json != nil, undecodable: undecodable)
        return StorageQuery(
            condition: condition, order: terms.map { $0.term }, decode: decision.decode, glance: decision.glance,
            examine: decision.examine)
    }

    private func condition(for json: JSONObjectCoder?, _ indexes: [Index<Object>]) -> QueryCondition {
        switch condition {
        case .all: return .constant(true)
        case .text(let filter): return filter.condition
        case .predicate(let predicate):
            guard let json else { return .opaque }
            // Infinity and NaN are texts, which have another order.
            let usable = indexes.filter { index in
                let type = type(of: index.keyPath).valueType
                return !json.storesNonFiniteNumbers
                    || ![Double.self, Float.self, Double?.self, Float?.self].contains { $0 == type }
            }
            return PredicateTranslation(indexes: usable, dates: json.dateForm).condition(of: predicate)
        }
    }

    /// Decides about records.
    ///
    /// @unchecked because the objects' type need not be `Sendable`. Its `init(from:)` may run on any thread, as it does when a
    /// task fetches.
    private struct Decision: @unchecked Sendable {
        let condition: QueryCondition
        let filter: Condition
        /// The properties of the sort order.
        let keyPaths: [PartialKeyPath<Object>]
        /// The places of their values in the JSON, if they are declared.
        let queries: [JSONQuery?]
        let coder: any ObjectCoder
        let isJSON: Bool
        let undecodable: (@Sendable (StorageError) -> Void)?

        @Sendable func examine(_ entry: StorageEntry, _ receive: (Match) -> Void) throws -> [StorageSortKey]? {
            do throws(StorageError) {
                return try decide(entry, receive)
            } catch {
                try omit(error)
                return nil
            }
        }

        @Sendable func decode(_ entry: StorageEntry, _ receive: (Match) -> Void) throws -> Bool {
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
        @Sendable func glance(_ entry: StorageEntry) -> QueryGlance {
            var keys = [StorageSortKey?](repeating: nil, count: queries.count)
            guard let verdict = look(entry, &keys) else { return .nothing }
            if verdict == .no { return .excluded }
            let known = keys.compactMap { $0 }
            return known.count == keys.count ? .keys(known, isMatch: verdict == .yes) : .nothing
        }

        /// Looks at a record without decoding it.
        ///
        /// - Parameter keys: Receives the key of each term whose place in the JSON is declared.
        /// - Returns: Whether it matches; `nil` if it is not JSON.
        private func look(_ entry: StorageEntry, _ keys: inout [StorageSortKey?]) -> QueryCondition.Verdict? {
            if !isJSON { return nil }
            return entry.data.withUnsafeBytes { bytes in
                // The decoder reports what is wrong with a text that is not JSON.
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return nil }
                let verdict =
                    if case .text(let filter) = filter {
                        filter.accepts(bytes, range) ? QueryCondition.Verdict.yes : .no
                    } else {
                        condition.verdict(bytes, range)
                    }
                if verdict == .no { return .no }
                for (index, query) in queries.enumerated() {
                    if let query { keys[index] = StorageSortKey(bytes, query.find(in: bytes, range)) }
                }
                return verdict
            }
        }

        private func decide(
            _ entry: StorageEntry, _ receive: (Match) -> Void
        ) throws(StorageError) -> [StorageSortKey]? {
            // The key of each term, `nil` if it is that of a property of the object.
            var keys = [StorageSortKey?](repeating: nil, count: queries.count)
            let verdict = look(entry, &keys) ?? .unknown
            if verdict == .no { return nil }
            let object = try coder.decode(Object.self, from: entry.data, for: entry.key)
            do {
                // A predicate takes as long as decoding the object.
                if verdict != .yes, case .predicate(let predicate) = filter, try !predicate.evaluate(object) {
                    return nil
                }
                var all: [StorageSortKey] = []
                all.reserveCapacity(keys.count)
                for (index, key) in keys.enumerated() {
                    all.append(try key ?? StorageSortKey(of: object[keyPath: keyPaths[index]], encodedBy: coder))
                }
                receive((entry.key, object))
                return all
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

extension Decodable {
    /// The indexes that the type declares.
    fileprivate static var queryIndexes: [Index<Self>] {
        func indexes<Object: Queryable>(of type: Object.Type) -> Any { type.indexes }
        guard let type = self as? any Queryable.Type else { return [] }
        return indexes(of: type) as? [Index<Self>] ?? []
    }

    /// The indexes that an engine should have for the type.
    package static var storageIndexes: [StorageIndex] { queryIndexes.map { $0.storageIndex } }
}
