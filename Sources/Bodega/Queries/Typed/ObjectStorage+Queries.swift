import Foundation
import Logging

extension ObjectStorage {

    /// Fetches the first objects that match a query, or the next ones.
    ///
    /// An engine with an index, see ``Queryable``, reads only some items. Of other engines, this reads all items, some
    /// at a time, and keeps about twice as many as the limit. The first page of a search in the order of relevance
    /// needs one more read of all items if there is no index for it.
    ///
    /// Pages begin after the last object of the page before. An object that changes its place between two calls can be
    /// on both pages or on none, an object that stays where it is is on one.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The maximum number of objects. With 0, the page is empty, and its `next` is the given cursor.
    ///   - cursor: The place after which to begin, from ``QueryPage/next`` of a page in the same order. In another
    ///     order by values of the same types it can't be recognized, and is a place without a meaning. So that it is
    ///     short, it has a checksum of a value of more than 1,000 bytes instead of the value.
    ///   - omittingUndecodable: Whether records that can't be decoded or decrypted are omitted, and listed in
    ///     ``QueryPage/undecodable``, instead of ending the query.
    /// - Returns: The objects in the order of the query.
    /// - Throws: A ``StorageError`` if the items could not be read, or one of them not decoded.
    ///   ``StorageError/Code/invalidArgument`` if the cursor or the query is not valid, if the item at the cursor was
    ///   removed from an engine without ``StorageTraits/stablePositions``, or if its value of more than 1,000 bytes, by
    ///   which the query sorts, has changed.
    public func fetch(
        _ query: Query<Object>, limit: Int = .max, after cursor: QueryCursor? = nil, omittingUndecodable: Bool = false
    ) async throws -> QueryPage<Object> {
        prepareIndexes()
        let limit = max(limit, 0)
        var query = query
        if let cursor, query.isByRelevance, let search = query.search {
            query.search?.ranking = try cursor.ranking(phrases: search.pattern.phrases.count)
        }
        query = try await ranked(query, fromOriginal: false)
        let original = query
        let read = try await reading(query, omittingUndecodable) { query, engine in
            let (place, item) = try await self.place(of: cursor, in: original)
            return try await query.page(from: engine, limit: limit, after: place, item: item)
        }
        let page = read.value
        var next: QueryCursor?
        if page.hasMore {
            // A page without matches ends where it begins.
            next = cursor
            if let place = page.places.last, let match = page.matches.last {
                let ranking = query.isByRelevance ? query.search?.ranking : nil
                next = QueryCursor(place, key: match.key, coder: coder, ranking: ranking)
            }
        }
        return QueryPage(objectsAndKeys: page.matches, next: next, undecodable: read.unreadable)
    }

    /// Fetches a part of the objects that match a query, for example the one of a numbered page.
    ///
    /// Its time grows with the offset: the objects before it are read, but not kept. Prefer
    /// ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>`` to go from page to page. If the engine changes
    /// between two calls, an object can be in both results or in none.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The maximum number of objects.
    ///   - offset: The number of matching objects that come before.
    ///   - omittingUndecodable: See ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    /// - Returns: The objects in the order of the query; none if fewer objects match than the offset.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func fetch(
        _ query: Query<Object>, limit: Int, offset: Int, omittingUndecodable: Bool = false
    ) async throws -> QueryPage<Object> {
        var (cursor, skipped) = (QueryCursor?.none, 0)
        while skipped < offset {
            let page = try await fetch(
                query, limit: min(offset - skipped, 1_000), after: cursor, omittingUndecodable: omittingUndecodable)
            guard let next = page.next else { return QueryPage(objectsAndKeys: [], undecodable: page.undecodable) }
            (cursor, skipped) = (next, skipped + page.objectsAndKeys.count)
        }
        return try await fetch(query, limit: limit, after: cursor, omittingUndecodable: omittingUndecodable)
    }

    /// Fetches the keys of the objects that match a query.
    ///
    /// The objects are decoded, but not kept.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The maximum number of keys.
    ///   - omittingUndecodable: See ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    /// - Returns: The keys in the order of the query.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func fetchKeys(
        _ query: Query<Object>, limit: Int = .max, omittingUndecodable: Bool = false
    ) async throws -> [CacheKey] {
        prepareIndexes()
        return try await reading(query, omittingUndecodable) { query, engine in
            try await query.map(MatchParts<Object>().key).page(
                from: engine, limit: max(limit, 0), after: nil, looksBeyond: false)
        }.value.matches
    }

    /// Counts the objects that match a query.
    ///
    /// The result is the number of objects that ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``
    /// returns, with one exception: if the whole predicate is about one property with an index, and no records are to
    /// be omitted, no object is read. Then records count that meet the predicate but can't be decoded, where `fetch`
    /// throws.
    ///
    /// Other counts decode the objects. ``fetchCount()`` counts all records in a fraction of the time.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - omittingUndecodable: Whether records that can't be decoded or decrypted are omitted instead of ending the
    ///     query.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func count(_ query: Query<Object>, omittingUndecodable: Bool = false) async throws -> Int {
        prepareIndexes()
        return try await reading(query.unordered, omittingUndecodable) { try await $0.count(in: $1) }.value
    }

    /// Fetches the first object that matches a query.
    ///
    /// - Returns: The object with its key, `nil` if none matches.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func first(
        _ query: Query<Object>, omittingUndecodable: Bool = false
    ) async throws -> (key: CacheKey, object: Object)? {
        prepareIndexes()
        return try await reading(query, omittingUndecodable) { query, engine in
            try await query.page(from: engine, limit: 1, after: nil, looksBeyond: false)
        }.value.matches.first
    }

    /// Returns whether any object matches a query.
    ///
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)->QueryPage<Object>``.
    public func exists(_ query: Query<Object>, omittingUndecodable: Bool = false) async throws -> Bool {
        prepareIndexes()
        return try await reading(query.unordered, omittingUndecodable) { try await $0.exists(in: $1) }.value
    }

    // MARK: Indexes

    /// Creates the indexes that the objects' type declares, and that the engine lacks. Does nothing if the engine has
    /// no indexes, or is read-only, and leaves out those that it can't have: ``StorageIndexes/fetchIndexes()`` lists
    /// the others.
    ///
    /// The first query begins this in the background, and a later one again if it has failed. Call it to know when the
    /// indexes exist.
    ///
    /// - Parameter progress: Receives the number of items that were read so far, added up for all indexes that are
    ///   missing, and the number of those to read. Both may be estimates. An engine without progress reports nothing.
    /// - Throws: A ``StorageError`` if an index could not be created that the engine can have. The others were created.
    public func createIndexes(
        progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws {
        try await storage.createIndexes(Object.storageIndexes, progress: progress)
    }

    /// Begins to create the indexes, unless that was done.
    package func prepareIndexes() {
        indexCreation.begin {
            Object.storageIndexes
        } _: { [storage] in
            try await storage.createIndexes($0)
        }
    }

    /// The place of a cursor, and the key of the item there if other items can get its position.
    private func place(
        of cursor: QueryCursor?, in query: Query<Object>
    ) async throws -> (QueryPlace?, item: CacheKey?) {
        guard let cursor else { return (nil, nil) }
        var (place, item) = try await cursor.place(in: try query.ordering(encodedBy: coder), coder: coder) { key in
            guard let object = try await fetchObject(forKey: key) else { throw Self.cursorHasNoItem }
            return object
        }
        if storage.traits.contains(.stablePositions) { return (place, item) }
        guard let position = try await storage.position(of: item) else { throw Self.cursorHasNoItem }
        place.position = position
        return (place, nil)
    }

    private static var cursorHasNoItem: StorageError {
        StorageError(.invalidArgument, "The item at the cursor was removed. Begin with the first page.")
    }

    func reading<Value>(
        _ query: Query<Object>, _ omitting: Bool, fromOriginal: Bool = false,
        _ body: @escaping (StorageQuery<Query<Object>.Match>, StorageReader) async throws -> Value
    ) async throws -> (value: Value, unreadable: [StorageError]) {
        let others = query.referencedEngines
        if others.isEmpty { return try await reading(resolved: query, omitting, fromOriginal, body) }
        let database = storage.database(with: others)
        let result = MovedValue<(Value, [StorageError])>()
        let body = MovedBody { [self] in
            let (query, errors) = try await query.resolved(omittingUndecodable: omitting)
            // A cache would answer from another moment.
            let read = try await reading(resolved: query, omitting, fromOriginal || database != nil, body)
            result.value = (read.value, errors + read.unreadable)
        }
        if let database { try await database.atOneMoment(body.run) } else { try await body.run() }
        guard let value = result.value else { preconditionFailure("A database reads at a moment, or throws.") }
        return (value.0, value.1)
    }

    private func reading<Value>(
        resolved query: Query<Object>, _ omitting: Bool, _ fromOriginal: Bool,
        _ body: (StorageQuery<Query<Object>.Match>, StorageReader) async throws -> Value
    ) async throws -> (value: Value, unreadable: [StorageError]) {
        let errors = Locked<[CacheKey: StorageError]>([:])
        let report: @Sendable (StorageError) -> Void = { error in
            if let key = error.key { errors.withLock { if $0.count < 1_000 { $0[key] = error } } }
        }
        try await learnFromStoredObjects(for: query)
        let query = try await ranked(query, fromOriginal: fromOriginal)
        let running = try query.running(decodedBy: coder, undecodable: omitting ? report : nil)
        let reader = StorageReader(
            storage, options: ReadOptions(omitsUnreadable: omitting, needsOriginal: fromOriginal))
        let value = try await body(running, reader)
        return (value, errors.withLock { Array($0.values) } + reader.unreadable)
    }
}

extension StorageBackend {
    /// The position that an item has in scans now, `nil` if there is no such item. It need not be its place among
    /// the keys: engines in which others are hidden leave gaps, and mirrors have positions of their own.
    fileprivate func position(of key: CacheKey) async throws -> Int? {
        let position = Locked<Int?>(nil)
        _ = try await scan(ScanRequest(fields: [], options: ReadOptions(omitsUnreadable: true))) {
            position.withLock { $0 = nil }
            return { _, item in
                guard item.key == key else { return true }
                position.withLock { $0 = item.position }
                return false
            }
        }
        return position.withLock { $0 }
    }

    /// Creates the indexes that the engine lacks and can have.
    ///
    /// - Parameter progress: See ``ObjectStorage/createIndexes(progress:)``.
    func createIndexes(
        _ indexes: [StorageIndex], progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws {
        guard let own = self.indexes, !indexes.isEmpty else { return }
        let existing = try await own.fetchIndexes()
        let missing = indexes.filter { !existing.contains($0) }
        var failure: (any Error)?
        for (number, index) in missing.enumerated() {
            do {
                try await own.createIndex(index) { examined, total in
                    progress(number * total + examined, missing.count * total)
                }
            } catch let error as StorageError where error.code == .invalidArgument || error.code == .readOnly {
                bodegaLogger.debug("The engine has no index.", metadata: ["index": "\(index)", "error": "\(error)"])
            } catch let error as CancellationError {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
