import Foundation

/// The sort order of a query, for objects of one coder.
struct QueryOrdering<Object>: @unchecked Sendable {
    // @unchecked because of the types in `ValueOrder` and the key paths, which are immutable.

    /// A part of the order.
    struct Term {
        let keyPath: PartialKeyPath<Object>
        let order: ValueOrder
        let isDescending: Bool
        /// The declared index that has this order.
        let index: StorageIndex?
        /// The place of the value in the JSON, if an index has this order.
        let query: JSONQuery?
        let dates: DateForm?
        /// The term in the form in which it runs.
        let running: QueryTerm
    }

    let terms: [Term]
    /// Whether the best matches of a search come first. There are no terms then.
    let isByRelevance: Bool

    /// The order in the form in which it runs.
    var running: [QueryTerm] {
        isByRelevance ? [QueryTerm(path: nil, isDescending: true)] : terms.map { $0.running }
    }

    /// - Parameters:
    ///   - query: The query.
    ///   - coder: The coder, if objects are JSON.
    ///   - indexes: The indexes that can be used.
    /// - Throws: ``StorageError/Code/invalidArgument`` if the objects can't be sorted in this way.
    init(_ query: Query<Object>, coder: JSONObjectCoder?, indexes: [Index<Object>]) throws {
        isByRelevance = query.isByRelevance
        terms = try query.order.map { term in
            guard let keyPath = term.keyPath else {
                throw StorageError(
                    .invalidArgument,
                    "A sort descriptor of the query has a comparator of its own. Use descriptors for key paths.")
            }
            let order = try ValueOrder(Swift.type(of: keyPath).valueType)
            let keys = coder.flatMap { order.keys(inIndexOf: $0) }
            let index = keys == nil ? nil : indexes.first { $0.keyPath == keyPath }?.storageIndex
            let running = QueryTerm(
                path: index?.path, isDescending: term.isDescending, ordered: keys ?? .all, needsTextIndex: order.isText)
            return Term(
                keyPath: keyPath, order: order, isDescending: term.isDescending, index: index,
                query: index?.first.query,
                dates: coder?.dateForm, running: running)
        }
    }

    /// The keys of an object.
    ///
    /// - Parameter stored: The keys of terms that are known from the JSON.
    func keys(of object: Object, stored: [StorageSortKey?] = []) -> QueryKeys {
        if terms.isEmpty { return QueryKeys([]) }
        var (keys, values): ([StorageSortKey], [SwiftValue?]) = ([], [])
        keys.reserveCapacity(terms.count)
        for (index, term) in terms.enumerated() {
            if index < stored.count, let key = stored[index] {
                keys.append(key)
                values.append(nil)
            } else {
                let place = term.order.place(of: object[keyPath: term.keyPath], dates: term.dates)
                keys.append(place.key)
                values.append(place.value)
            }
        }
        return QueryKeys(keys, values)
    }

    /// The keys of terms that the JSON alone determines.
    func storedKeys(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [StorageSortKey?] {
        terms.map { term in
            guard let query = term.query else { return nil }
            let key = StorageSortKey(bytes, query.find(in: bytes, range))
            return term.order.isExact(key) ? key : nil
        }
    }
}
