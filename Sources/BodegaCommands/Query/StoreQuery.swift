import Bodega
import Foundation
import RecordCoder

/// A query of a store's items, which are JSON.
struct StoreQuery: Sendable {
    /// The condition that items must meet, `nil` for all items.
    var filter: JSONFilter?
    /// The sort order, `nil` for insertion order.
    var sort: Sort?
    /// The maximum number of results, `nil` for all.
    var limit: Int?

    /// A sort order.
    struct Sort: Sendable {
        var query: JSONQuery
        var isDescending: Bool
    }

    /// A found item.
    struct Match: Sendable {
        var key: CacheKey
        var data: Data
        fileprivate var sortValue: SortValue
    }

    /// Runs the query.
    ///
    /// Without a sort order, items are reported as they are found, and reading stops at the limit. With one, matches
    /// are kept until the end, at most about twice as many as the limit.
    ///
    /// - Parameters:
    ///   - engine: The store.
    ///   - unreadable: Receives the items that can't be read, or are encrypted, so that nothing is known of their content.
    ///   - found: Called with each item, in order.
    /// - Returns: The number of items that were left out because they are not JSON.
    func run(
        on engine: any StorageEngine, unreadable: UnreadableItems, _ found: (Match) throws -> Void
    ) async throws -> Int {
        let limit = limit ?? .max
        var rest = limit
        var others = 0
        var matches: [Match] = []
        for try await batch in ItemBatches(of: try await engine.fetchKeys(), in: engine, unreadable: unreadable) {
            for (key, data) in batch {
                if rest == 0 { return others }
                let match: Match
                switch data.withUnsafeBytes(examine) {
                case .notJSON where EncryptedItem.hasForm(data):
                    unreadable.addEncrypted(key)
                    continue
                case .notJSON:
                    others += 1
                    continue
                case .unwanted:
                    continue
                case .wanted(let sortValue):
                    match = Match(key: key, data: data, sortValue: sortValue)
                }
                if sort == nil {
                    try found(match)
                    rest -= 1
                } else {
                    matches.append(match)
                    if limit < .max / 2, matches.count > 2 * limit + 1000 { matches = sorted(matches, limit) }
                }
            }
        }
        for match in sorted(matches, limit) { try found(match) }
        return others
    }

    private enum Examination {
        case notJSON, unwanted
        case wanted(SortValue)
    }

    private func examine(_ bytes: UnsafeRawBufferPointer) -> Examination {
        guard isValidUTF8(bytes), let range = JSONScanner.document(bytes) else { return .notJSON }
        if let filter, !filter.accepts(bytes, range) { return .unwanted }
        guard let sort, let place = sort.query.find(in: bytes, range) else { return .wanted(SortValue(nil)) }
        return .wanted(SortValue(JSONValue(bytes, place)))
    }

    private func sorted(_ matches: [Match], _ limit: Int) -> [Match] {
        guard let sort else { return matches }
        // The offsets make the sort stable, which the standard library does not guarantee.
        let indexed = matches.enumerated().sorted { left, right in
            let (first, second) = (left.element.sortValue, right.element.sortValue)
            if first.rank == .missing || second.rank == .missing || first.rank != second.rank {
                if first.rank == second.rank { return left.offset < right.offset }
                // Items without a value to sort by come last in both directions.
                if first.rank == .missing || second.rank == .missing { return second.rank == .missing }
                return (first.rank.rawValue < second.rank.rawValue) != sort.isDescending
            }
            if first.isLess(than: second) { return !sort.isDescending }
            if second.isLess(than: first) { return sort.isDescending }
            return left.offset < right.offset
        }
        return indexed.prefix(limit).map(\.element)
    }
}

/// The value that an item is sorted by.
private struct SortValue: Sendable {
    /// The types of values, in sort order.
    enum Rank: Int {
        case null, bool, number, string, container, missing
    }

    let rank: Rank
    private let value: JSONValue?

    init(_ value: JSONValue?) {
        self.value = value
        rank =
            switch value {
            case nil: .missing
            case .null: .null
            case .bool: .bool
            case .number: .number
            case .string: .string
            case .array, .object: .container
            }
    }

    func isLess(than other: SortValue) -> Bool {
        switch (value, other.value) {
        case (.bool(let left), .bool(let right)): !left && right
        case (let left?, let right?): left < right
        default: false
        }
    }
}
