import Bodega
import Foundation
import RecordCoder

/// A query of a store's items, which are JSON.
struct ItemQuery: Sendable {
    /// The condition that items must meet, `nil` for all items.
    var filter: JSONFilter?
    /// The search whose expression items must match, `nil` for all items.
    var search: ItemSearch?
    /// The values to sort by; none for insertion order, or that of relevance if there is a search.
    var sort: [Sort] = []
    /// The maximum number of results, `nil` for all.
    var limit: Int?
    /// Called for each item that is examined.
    var didExamine: @Sendable () -> Void = {}

    /// A value to sort by.
    struct Sort: Sendable {
        var path: JSONPath
        var isDescending: Bool
    }

    /// A reader of the items of an engine, which leaves out those that can't be read.
    static func reader(of engine: any StorageBackend) -> StorageReader {
        StorageReader(engine, options: ReadOptions(omitsUnreadable: true))
    }

    /// Finds items.
    ///
    /// - Parameters:
    ///   - reader: A reader of the items.
    ///   - leftOut: Receives the items of which it is unknown whether they match.
    ///   - receive: Receives the items in order, some at a time, as they are found.
    func run(
        on reader: StorageReader, leavingOut leftOut: LeftOutItems,
        _ receive: ([FoundItem]) async throws -> Void
    ) async throws {
        var query = self
        if sort.isEmpty { query.search = try await search?.ranked(on: reader) }
        try await query.running(leftOut).forEachMatchInOrder(in: reader, limit: limit ?? .max, receive)
        reader.unreadable.forEach(leftOut.unreadable.add)
    }

    /// Counts the items, at most the limit.
    ///
    /// - Parameter leftOut: Receives the items of which it is unknown whether they match.
    func count(on reader: StorageReader, leavingOut leftOut: LeftOutItems) async throws -> Int {
        var count = 0
        guard limit == nil else {
            try await run(on: reader, leavingOut: leftOut) { count += $0.count }
            return count
        }
        // Any order will do.
        count = try await running(leftOut).count(in: reader)
        reader.unreadable.forEach(leftOut.unreadable.add)
        return count
    }

    /// The query in the form in which it runs.
    func running(_ leftOut: LeftOutItems) -> StorageQuery<FoundItem> {
        let (filter, search, paths, didExamine) = (filter, search, sort.map { JSONQuery($0.path) }, didExamine)
        let condition = filter?.condition ?? .constant(true)
        // Only the texts say whether an item matches a search.
        var query = StorageQuery<FoundItem>(
            condition: search == nil ? condition : .and(condition, .opaque), order: order
        ) { entry, receive in
            didExamine()
            let keys = entry.data.withUnsafeBytes { bytes -> [StorageSortKey]? in
                guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else {
                    leftOut.add(entry)
                    return nil
                }
                if let filter, !filter.accepts(bytes, range) { return nil }
                if let search {
                    guard let keys = search.keys(of: bytes, range) else { return nil }
                    if paths.isEmpty { return keys }
                }
                return paths.map { StorageSortKey(bytes, $0.find(in: bytes, range)) }
            }
            if keys != nil { receive((entry.key, entry.data)) }
            return keys
        }
        query.search = search?.storageSearch
        return query
    }

    private var order: [QueryTerm] {
        if sort.isEmpty, let search { return search.ranking == nil ? [] : [QueryTerm(path: nil, isDescending: true)] }
        return sort.map { QueryTerm(path: $0.path.member.path, isDescending: $0.isDescending) }
    }
}

extension JSONPath {
    /// The value as a member of an index.
    var member: StorageIndex.Member {
        // The tool compares texts by their scalars.
        StorageIndex.Member(StorageIndex.Member.path(of: names), isForText: false)
    }
}

/// The items of which a query can't say whether they match.
final class LeftOutItems: Sendable {
    private let others = Locked<Set<CacheKey>>([])

    /// The items that can't be read, or are encrypted.
    let unreadable = UnreadableItems()

    /// The number of items that are not JSON.
    var count: Int { others.withLock { $0.count } }

    /// Adds an item that is not JSON, once: an engine that repeats a read passes it on again.
    func add(_ item: StorageItem) {
        if EncryptedItem.hasForm(item.data) { return unreadable.addEncrypted(item.key) }
        others.withLock { _ = $0.insert(item.key) }
    }
}
