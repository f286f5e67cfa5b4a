package import Foundation

/// An item that matches a query.
package typealias FoundItem = (key: CacheKey, data: Data)

extension StorageQuery where Match == FoundItem {

    /// Passes on the matches in order, as they become known.
    ///
    /// Items whose scans are in the order of the result are passed on while others are still unread, and none of them
    /// is kept. Of other matches, only the keys and places are kept, and the items are read again.
    ///
    /// The engine reads some items at a time, and does nothing while the receiver works. An item that changes in the
    /// meantime can be missing, or be passed on twice.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - limit: The maximum number of matches.
    ///   - receive: Receives at least one match at a time.
    package func forEachMatchInOrder(
        in engine: StorageReader, limit: Int = .max, _ receive: ([FoundItem]) async throws -> Void
    ) async throws {
        if limit <= 0 { return }
        let engine = try await engine.continuing()
        let isPage = isPage(limit: limit)
        var plan = isPage ? reading(after: nil) : try await plan(on: engine, limit: limit, after: nil)
        // A scan has the order of one term only, and each part of a search by relevance is a search of its own.
        let isSearched = search?.relevance != nil && limit > 1_024
        if order.count > 1 || isSearched { plan.firstInOrder = plan.scans.count }
        var stream = MatchStream(query: self, engine: engine, plan: plan, isPage: isPage, rest: limit)
        try await stream.run(receive)
    }

    /// How ``forEachMatchInOrder(in:limit:_:)`` reads.
    package func streamingPlan(on engine: StorageReader, limit: Int) async throws -> QueryPlan {
        if limit <= 0 || !isPage(limit: limit) { return try await plan(on: engine, limit: limit, after: nil) }
        return try await page(from: engine, limit: limit, after: nil, looksBeyond: false).plan
    }

    /// Whether the places of all matches are found as those of a page. Only a page is read by groups of equal keys, see
    /// ``OrderedReading``, and only a page finds out whether a search or the order of an index leads to it earlier.
    private func isPage(limit: Int) -> Bool {
        let isSortedSearch = search != nil && search?.relevance == nil && !order.isEmpty
        return (order.count > 1 || isSortedSearch) && limit <= 1_024
    }
}

/// The matches of a query in order.
///
/// 1. The scans that are not in the order of the result are read completely, or as a page. Their matches wait, without
///    the items.
/// 2. The other scans are read in parts, each by a read of its own.
/// 3. Matches that wait are passed on at their places between the others.
private struct MatchStream {
    let query: StorageQuery<FoundItem>
    let engine: StorageReader
    let plan: QueryPlan
    /// Whether the matches are those of a page, which has a plan of its own.
    let isPage: Bool
    /// The number of matches that are still needed.
    var rest: Int
    private var waiting: ArraySlice<Element> = []

    /// A match, with its item unless this is still to be read again.
    struct Element: Sendable {
        var key: CacheKey
        var place: QueryPlace
        var data: Data?
        var size: Int
    }

    init(query: StorageQuery<FoundItem>, engine: StorageReader, plan: QueryPlan, isPage: Bool, rest: Int) {
        (self.query, self.engine, self.plan, self.isPage, self.rest) = (query, engine, plan, isPage, rest)
    }

    mutating func run(_ receive: ([FoundItem]) async throws -> Void) async throws {
        try await collect()
        for scan in plan.scans[plan.firstInOrder...] {
            var next: StorageScan? = scan
            while let current = next, rest > 0 {
                let part = try await read(current)
                try await pass(merged(part.matches)[...], to: receive)
                next = part.end.flatMap(current.continued)
            }
        }
        try await pass(waiting, to: receive)
    }

    /// Reads the scans that are not in the order of the result.
    private mutating func collect() async throws {
        let scans = Array(plan.scans[..<plan.firstInOrder])
        if scans.isEmpty { return }
        var keys = query.map { entry, _ in (key: entry.key, size: entry.data.count) }
        // Candidates would keep the items.
        keys.glance = nil
        if isPage { return wait(for: try await keys.page(from: engine, limit: rest, after: nil, looksBeyond: false)) }
        let (query, plan, limit) = (keys, plan, rest)
        let collection = Locked(MatchCollection(MatchCollector(query, plan, limit: limit, after: nil)))
        try await engine.scan(scans, within: plan.within) {
            let new = MatchCollection(MatchCollector(query, plan, limit: limit, after: nil))
            collection.withLock { $0 = new }
            return new.receive
        }
        guard let found = try await collection.withLock({ $0 }).collector.first(limit) else { return }
        wait(for: found)
    }

    private mutating func wait(for found: QueryMatches<(key: CacheKey, size: Int)>) {
        waiting = zip(found.matches, found.places).map { Element(key: $0.key, place: $1, size: $0.size) }[...]
    }

    /// Reads the next part of a scan.
    private func read(_ scan: StorageScan) async throws -> Part {
        let part = Locked(Part())
        try await engine.scan([scan], within: plan.within) { [query, plan, limit = rest] in
            part.withLock { $0 = Part() }
            return { _, entry in
                let place = try query.match(entry, index: plan.order, isMatch: plan.isMatch(entry)) { _ in }
                return part.withLock { $0.add(entry, place, limit: limit) }
            }
        }
        return part.withLock { $0 }
    }

    private struct Part: Sendable {
        var matches: [Element] = []
        /// The place after which the scan goes on; `nil` if it is complete.
        var end: StoragePlace?
        private var (count, bytes) = (0, 0)

        /// Adds an item with its place, which is `nil` if it does not match.
        ///
        /// - Returns: Whether the part can have more.
        mutating func add(_ entry: StorageItem, _ place: QueryPlace?, limit: Int) -> Bool {
            count += 1
            if let place {
                matches.append(Element(key: entry.key, place: place, data: entry.data, size: entry.data.count))
                bytes += entry.data.count
            }
            let isFull = matches.count >= min(limit, 1024) || bytes >= partSize || count >= 4096
            if isFull { end = entry.place }
            return !isFull
        }
    }

    /// Matches in order, with those that wait for a place before the last of them.
    private mutating func merged(_ matches: [Element]) -> [Element] {
        var result: [Element] = []
        for match in matches {
            let isBefore = { [query] in query.isAscending($0, match.place) }
            while let first = waiting.first, isBefore(first.place) { result.append(waiting.removeFirst()) }
            result.append(match)
        }
        return result
    }

    /// Passes on matches, after reading the items that were not kept.
    private mutating func pass(
        _ matches: ArraySlice<Element>, to receive: ([FoundItem]) async throws -> Void
    ) async throws {
        var matches = matches
        while !matches.isEmpty, rest > 0 {
            var bytes = 0
            let part = matches.prefix(min(rest, 1024)).prefix { match in
                if match.data == nil { bytes += match.size }
                return bytes < partSize
            }
            // An item that is larger than a part is one.
            let count = max(part.count, 1)
            let found = try await loaded(Array(matches.prefix(count)))
            matches = matches.dropFirst(count)
            rest -= found.count
            if !found.isEmpty { try await receive(found) }
        }
    }

    private func loaded(_ matches: [Element]) async throws -> [FoundItem] {
        let unread = matches.filter { $0.data == nil }.map(\.key)
        let items = unread.isEmpty ? [] : try await engine.fetch(keys: unread)
        let data = Dictionary(items.map { ($0.key, $0.data) }) { first, _ in first }
        return try matches.compactMap { match in
            if let item = match.data { return (match.key, item) }
            // It may have been removed or changed.
            guard let data = data[match.key] else { return nil }
            let entry = StorageItem(key: match.key, data: data, position: match.place.position)
            return try query.examine(entry) { _ in } == nil ? nil : (match.key, data)
        }
    }
}

/// The approximate number of bytes of the items that are in memory at the same time.
private let partSize = 1 << 20
