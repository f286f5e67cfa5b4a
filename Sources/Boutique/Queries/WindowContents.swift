import Bodega

/// What a window of objects has read.
struct WindowContents<Item: StorableItem>: WindowContentsValue {
    /// The rows that are shown, and those in reserve.
    fileprivate(set) var window: QueryWindow<Item>
    /// The index whose order the rows have.
    fileprivate var index: IndexOrder?
    /// The errors of the records that could not be read.
    fileprivate var errors: [CacheKey: StorageError] = [:]
    /// Whether rows come from a copy, whose places can't be compared with those of the engine's items.
    fileprivate var isCopy = false
    /// Reads rows as long as the items behind conditions are the same.
    fileprivate let reader: QueryReader<Item>
    /// The ends of the logs of the other engines on which the rows depend; `nil` where there is no log.
    fileprivate var cursors: [StorageCursor?] = []
    private(set) var changedKeys: Set<CacheKey>?

    var shown: [QueryRow<Item>] { window.shown }
    var shownCount: Int { window.shownCount }
    func shownRow(at index: Int) -> QueryRow<Item> { window.rows[index] }
    func shownIndex(of key: CacheKey) -> Int? { window.shownIndex(of: key) }
    mutating func didShow() { changedKeys = [] }

    var rowCount: Int { window.rows.count }
    var limit: Int { window.limit }
    var hasMore: Bool { window.hasMore }
    var undecodable: [StorageError] { Array(errors.values) }

    /// Applies changes of the items under some keys, of which the given rows match now.
    fileprivate mutating func apply(_ keys: [CacheKey], _ rows: [QueryRow<Item>]) {
        changedKeys?.formUnion(keys)
        window.apply(Set(keys), rows)
    }

    fileprivate mutating func add(_ new: [StorageError]) {
        for error in new where errors.count < QueryReader<Item>.maximumErrors {
            if let key = error.key { errors[key] = error }
        }
    }
}

extension QueryReader: WindowReader {

    func all(limit: Int) async throws -> WindowContents<Item> {
        try await atOneMoment { [self] in
            // Changes between these and the rows are read again.
            var cursors: [StorageCursor?] = []
            for other in others { cursors.append(try await other.followedCursor()) }
            let (reader, errors) = try await resolved()
            var new = WindowContents(
                window: QueryWindow<Item>(limit: limit, isAscending: try comparison()), reader: reader, cursors: cursors
            )
            new.add(errors)
            let part = try await reader.rows(limit: new.window.capacity, after: nil)
            new.window.replace(with: part.rows, hasMore: part.hasMore)
            new.index = part.index
            new.isCopy = part.isCopy
            new.add(part.undecodable)
            return new
        }
    }

    func changes(since cursor: StorageCursor, in contents: WindowContents<Item>) async throws -> WindowChanges? {
        // A removal changes the places of other items.
        guard hasStablePositions else { return nil }
        // Each change of an item can change how relevant all others are.
        let maximum = query.isByRelevance ? 0 : maximumChanges
        for case (let other, let cursor?) in zip(others, contents.cursors) {
            // Any change of an item behind a condition can concern any row.
            guard let changes = try await other.changedKeys(since: cursor, upTo: 0), changes.keys.isEmpty else {
                return nil
            }
        }
        return try await engine.changedKeys(since: cursor, upTo: maximum).map { WindowChanges(own: $0) }
    }

    func update(_ contents: WindowContents<Item>, with changes: WindowChanges) async throws -> WindowContents<Item> {
        var new = contents
        if !new.errors.isEmpty { for key in changes.own.keys { new.errors[key] = nil } }
        // The rows that do not belong to the window are dropped before the next ones are read.
        for keys in changes.own.parts {
            let part = try await new.reader.rows(of: keys, index: new.index)
            new.apply(keys, part.rows)
            new.add(part.undecodable)
            if part.isCopy { new.isCopy = true }
        }
        return try await filled(new)
    }

    func extend(
        _ contents: WindowContents<Item>, by count: Int, since cursor: StorageCursor?
    ) async throws -> WindowContents<Item> {
        var new = contents
        new.window.extend(by: count)
        return try await filled(new)
    }

    /// Reads the rows that are missing, or all if some come from a copy.
    private func filled(_ contents: WindowContents<Item>) async throws -> WindowContents<Item> {
        var new = contents
        if !new.isCopy, new.window.missing > 0 {
            let part = try await new.reader.rows(limit: new.window.missing, after: new.window.rows.last)
            new.window.append(part.rows, hasMore: part.hasMore)
            new.add(part.undecodable)
            new.isCopy = part.isCopy
        }
        return new.isCopy ? try await all(limit: new.window.limit) : new
    }
}
