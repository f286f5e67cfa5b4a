import Foundation
import Logging

extension ObjectStorage {

    /// Fetches the first objects that match a query, or the next ones.
    ///
    /// An engine with an index, see ``Queryable``, reads only some items. Of other engines, this reads all items, some
    /// at a time, and keeps about twice as many as the limit.
    ///
    /// Pages begin after the last object of the page before. An object that changes its place between two calls can be
    /// on both pages or on none, an object that stays where it is is on one.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The maximum number of objects. With 0, the page is empty, and its `next` is the given cursor.
    ///   - cursor: The place after which to begin, from ``QueryPage/next``.
    ///   - omittingUndecodable: Whether records that can't be decoded or decrypted are omitted, and listed in
    ///     ``QueryPage/undecodable``, instead of ending the query.
    /// - Returns: The objects in the order of the query.
    /// - Throws: A ``StorageError`` if the items could not be read, or one of them not decoded.
    ///   ``StorageError/Code/invalidArgument`` if the cursor or the query is not valid, or if the
    ///   item at the cursor was removed from an engine without ``StorageTraits/stablePositions``.
    public func fetch(
        _ query: Query<Object>, limit: Int = .max, after cursor: QueryCursor? = nil, omittingUndecodable: Bool = false
    ) async throws -> QueryPage<Object> {
        prepareIndexes()
        let limit = max(limit, 0)
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
                next = QueryCursor(place, key: match.key, coder: coder)
            }
        }
        return QueryPage(objectsAndKeys: page.matches, next: next, undecodable: read.unreadable)
    }

    /// Counts the objects that match a query.
    ///
    /// The result is the number of objects that ``fetch(_:limit:after:omittingUndecodable:)`` returns, with one
    /// exception: if the whole predicate is about one property with an index, and no records are to be omitted, no
    /// object is read. Then records count that meet the predicate but can't be decoded, where `fetch` throws.
    ///
    /// Other counts decode the objects. ``fetchCount()`` counts all records in a fraction of the time.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - omittingUndecodable: Whether records that can't be decoded or decrypted are omitted instead of ending the
    ///     query.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
    public func count(_ query: Query<Object>, omittingUndecodable: Bool = false) async throws -> Int {
        prepareIndexes()
        return try await reading(query, omittingUndecodable) { try await $0.count(in: $1) }.value
    }

    /// Fetches the first object that matches a query.
    ///
    /// - Returns: The object with its key, `nil` if none matches.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
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
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
    public func exists(_ query: Query<Object>, omittingUndecodable: Bool = false) async throws -> Bool {
        prepareIndexes()
        return try await reading(query, omittingUndecodable) { try await $0.exists(in: $1) }.value
    }

    // MARK: Aggregates

    /// Counts the objects that match a query, for each value of a property.
    ///
    /// - Parameters:
    ///   - query: The query; by default, all objects match.
    ///   - property: The property.
    /// - Returns: The number of objects for each value that occurs.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
    public func count<Value: Hashable & Sendable>(
        _ query: Query<Object> = Query(), by property: any KeyPath<Object, Value> & Sendable
    ) async throws -> [Value: Int] {
        try await reduce(query, into: [:], Properties(property).tally)
    }

    /// Adds the values of a property of the objects that match a query.
    ///
    /// The sum of integers traps on overflow.
    ///
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
    public func sum<Value: AdditiveArithmetic>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value {
        try await reduce(query, into: .zero, Properties(property).add)
    }

    /// Returns the smallest value of a property of the objects that match a query.
    ///
    /// With an index over the property, this reads few objects.
    ///
    /// - Returns: The value that comes first in ascending order, see ``Query``; `nil` if no object matches, or none has
    ///   a value.
    /// - Throws: A ``StorageError``, see ``fetch(_:limit:after:omittingUndecodable:)``.
    public func minimum<Value: Comparable>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: false)
    }

    /// Returns the largest value of a property of the objects that match a query, see ``minimum(of:_:)``.
    public func maximum<Value: Comparable>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object> = Query()
    ) async throws -> Value? {
        try await extremum(of: property, query, isDescending: true)
    }

    private func extremum<Value: Comparable>(
        of property: any KeyPath<Object, Value> & Sendable, _ query: Query<Object>, isDescending: Bool
    ) async throws -> Value? {
        var query = query
        query.order = [Query.Term(keyPath: property, isDescending: isDescending)]
        return try await first(query).map { $0.object[keyPath: property] }
    }

    private func reduce<Result>(
        _ query: Query<Object>, into initial: Result, _ update: @escaping @Sendable (inout Result, Object) -> Void
    ) async throws -> Result {
        prepareIndexes()
        return try await reading(query, false) { query, engine in
            let reduction = Reduction(initial, update)
            try await query.forEachMatch(in: engine, reduction.begin)
            return reduction.result
        }.value
    }

    // MARK: Indexes

    /// Creates the indexes that the objects' type declares, and that the engine lacks. Does nothing if the engine has
    /// no indexes.
    ///
    /// The first query begins this in the background, and a later one again if it has failed. Call it to know when the
    /// indexes exist.
    ///
    /// - Throws: A ``StorageError`` if an index could not be created. The others were created.
    public func createIndexes() async throws {
        try await storage.createIndexes(Object.storageIndexes)
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
        guard let position = try await storage.fetchKeys().firstIndex(of: item) else { throw Self.cursorHasNoItem }
        place.position = position
        return (place, nil)
    }

    private static var cursorHasNoItem: StorageError {
        StorageError(.invalidArgument, "The item at the cursor was removed. Begin with the first page.")
    }

    private func reading<Value>(
        _ query: Query<Object>, _ omitting: Bool,
        _ body: @escaping (StorageQuery<Query<Object>.Match>, StorageReader) async throws -> Value
    ) async throws -> (value: Value, unreadable: [StorageError]) {
        let errors = Locked<[CacheKey: StorageError]>([:])
        let report: @Sendable (StorageError) -> Void = { error in
            if let key = error.key { errors.withLock { if $0.count < 1_000 { $0[key] = error } } }
        }
        try await learnFromStoredObjects()
        let running = try query.running(decodedBy: coder, undecodable: omitting ? report : nil)
        let reader = StorageReader(storage, options: ReadOptions(omitsUnreadable: omitting))
        let value = try await body(running, reader)
        return (value, errors.withLock { Array($0.values) } + reader.unreadable)
    }
}

extension StorageBackend {
    /// Creates the indexes that the engine lacks and can have.
    fileprivate func createIndexes(_ indexes: [StorageIndex]) async throws {
        guard let own = self.indexes, !indexes.isEmpty else { return }
        let existing = try await own.fetchIndexes()
        var failure: (any Error)?
        for index in indexes where !existing.contains(index) {
            do {
                try await own.createIndex(index)
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

/// Combines objects one after the other.
///
/// @unchecked because an engine passes on items one at a time, and the result is taken after the last one.
private final class Reduction<Object, Result>: @unchecked Sendable {
    private(set) var result: Result
    private let initial: Result
    private let update: @Sendable (inout Result, Object) -> Void

    init(_ initial: Result, _ update: @escaping @Sendable (inout Result, Object) -> Void) {
        (self.result, self.initial) = (initial, initial)
        self.update = update
    }

    @Sendable func begin() -> @Sendable (Query<Object>.Match) -> Void {
        result = initial
        return receive
    }

    @Sendable private func receive(_ match: Query<Object>.Match) {
        update(&result, match.object)
    }
}

/// The values of a property of many objects.
///
/// @unchecked because the types need not be `Sendable`, and each object is used by one thread only.
private struct Properties<Object, Value>: @unchecked Sendable {
    private let property: KeyPath<Object, Value>

    init(_ property: KeyPath<Object, Value>) { self.property = property }

    @Sendable func tally(_ counts: inout [Value: Int], _ object: Object) where Value: Hashable {
        counts[object[keyPath: property], default: 0] += 1
    }

    @Sendable func add(_ sum: inout Value, _ object: Object) where Value: AdditiveArithmetic {
        sum += object[keyPath: property]
    }
}
