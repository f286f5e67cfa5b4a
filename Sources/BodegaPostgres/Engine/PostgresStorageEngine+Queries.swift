#if Postgres
public import Bodega
import Foundation
import Logging

extension PostgresStorageEngine {

    /// Passes on items in order, all from one snapshot. See ``/Bodega/StorageBackend/scan(_:_:)``.
    ///
    /// A connection is in use until the last item was received. If it is lost, the scan begins again with another
    /// receiver. A scan of all items with a cursor, or without their data, reads them into memory first.
    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        let isOfAll = request.scans == [.all(after: nil)] && request.counted.isEmpty
        guard isOfAll || !request.needsCursor else {
            throw StorageError(.invalidArgument, "A snapshot consists of all items.")
        }
        if request.scans.isEmpty, !request.isSearch {
            return StorageAnswer(ScanOutcome(count: try await count(request)))
        }
        if isOfAll, request.needsCursor || !request.fields.contains(.data) { return try await copyAll(request, begin) }
        // An error of the receiver is passed on as it is.
        let failure = Locked<(any Error)?>(nil)
        func noting<Value>(_ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch {
                failure.withLock { $0 = error }
                throw error
            }
        }
        let (outcome, hasFound, isBehind) = try await database.reading { session in
            var (outcome, hasFound) = (ScanOutcome(), false)
            var reader = IndexScan(self, session, request.fields)
            do {
                if let search = request.ranking { outcome.ranking = try await reader.ranking(of: search) }
                for scan in request.counted {
                    outcome.count += try await reader.count(scan, upTo: request.countLimit)
                }
                let receive = try noting(begin)
                for (number, scan) in request.scans.enumerated() {
                    try await reader.run(scan) { item in
                        hasFound = true
                        outcome.byteCount += item.data.count
                        return try noting { try receive(number, item) }
                    }
                }
                try await reader.finish()
            } catch {
                // The session ends the transaction.
                if failure.withLock({ $0 }) == nil { throw error }
            }
            outcome.count = min(outcome.count, request.countLimit)
            return (outcome, hasFound, reader.isSearchBehind)
        }
        if let error = failure.withLock({ $0 }) { throw error }
        if isBehind { database.searchUpdates.begin(number) }
        if outcome.count == 0, !hasFound { try await checkExistence() }
        return StorageAnswer(outcome)
    }

    /// Reads all items by `COPY`, which is the fastest way, and passes them on afterwards.
    private func copyAll(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        var outcome = ScanOutcome()
        let items: [StorageItem]
        if request.needsCursor {
            (items, outcome.cursor) = try await snapshot(request.fields)
        } else {
            items = try await scan(request.fields) { row in try row.item(request.fields) }
        }
        let receive = try begin()
        var pace = ScanPace()
        for item in items {
            try await pace.count(item.data)
            outcome.byteCount += item.data.count
            if try !receive(0, item) { break }
        }
        return StorageAnswer(outcome)
    }

    /// Counts items, with one message.
    private func count(_ request: ScanRequest) async throws -> Int {
        let limit = request.countLimit
        let counts = try request.counted.compactMap { scan in
            try ScanStatement(scan, ofCollection: number)?.count(upTo: limit)
        }
        if counts.isEmpty { return 0 }
        let count = try await database.reading { session in
            let beginning = [session.beginSnapshot, ScanStatement.settings(forCountingUpTo: limit)]
            let commands = beginning + counts + [session.endSnapshot]
            let answers = try await session.run(commands)
            return try answers.dropFirst(2).dropLast().reduce(0) { $0 + Int(try $1.number(0, 0) as Int64) }
        }
        if count == 0 { try await checkExistence() }
        return min(count, limit)
    }
}

extension PostgresStorageEngine: StorageIndexes {

    public var indexes: (any StorageIndexes)? { self }

    public func fetchIndexes() async throws -> Set<StorageIndex> {
        let queries = [ItemIndex.usable(ofCollection: number), SearchTable.usable(ofCollection: number)]
        let rows = try await database.read(Command(Statement(queries.joined(separator: " UNION ALL "))))
        let ordered = try ItemIndex.indexes(rows, ofCollection: number)
        return ordered.union(try SearchTable.indexes(rows, ofCollection: number))
    }

    /// Creates an index, unless it exists, see ``createIndex(_:progress:)``.
    public func createIndex(_ index: StorageIndex) async throws {
        try await createIndex(index, reporting: nil)
    }

    /// Creates an index, unless it exists.
    ///
    /// The user must own the table `emporium_items`, and have the right to create functions in its schema. Other users
    /// need neither. The server builds the index without blocking readers and writers, one partition at a time, and
    /// waits for transactions that are older. Only a batch that locks the table, which is rare, waits for the end of a
    /// part.
    ///
    /// If the task is cancelled, the server stops, and this throws a `CancellationError`. The next call, of any
    /// program, goes on after the partitions that are complete, and ``removeIndex(_:)`` removes what there is.
    ///
    /// Programs that don't know this index keep it up to date when they write, and can write any bytes. The index uses
    /// one more connection while it is created, and another one from time to time for the progress.
    ///
    /// An index for searches is made of tables that this program fills, in short transactions, and of triggers, for
    /// which it waits until earlier writers have ended. It is used when it is complete. If the task is cancelled, the
    /// next call goes on; until then, the triggers note what changes. If it exists, it is brought up to date.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - progress: Receives the number of items that were read so far, which the server estimates, and the number of
    ///     all.
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/permissionDenied`` without these rights,
    ///   ``/Bodega/StorageError/Code/locked`` if other programs or open transactions prevented it for longer than
    ///   ``PostgresDatabase/Options/timeout``, plus the time of a build, ``/Bodega/StorageError/Code/invalidArgument``
    ///   if the path can't be in the database, or if PostgreSQL has no such index for searches: it has those for words,
    ///   in a database whose encoding is UTF8.
    public func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        try await createIndex(index, reporting: progress)
    }

    private func createIndex(
        _ index: StorageIndex, reporting progress: (@Sendable (_ examined: Int, _ total: Int) -> Void)?
    ) async throws {
        let result: Result<Void, any Error>
        do {
            result = .success(try await build(index, reporting: progress))
        } catch {
            result = .failure(error)
        }
        // A program that removes the collection in the meantime does not find the index yet. Not in this task, which
        // may be cancelled.
        try await Task { try await removeIndexOfNothing(index) }.value
        try result.get()
    }

    /// Removes an index of the collection if that does not exist any more.
    ///
    /// - Throws: ``/Bodega/StorageError/Code/placeRemoved`` if it does not.
    private func removeIndexOfNothing(_ index: StorageIndex) async throws {
        do {
            try await checkExistence(isAtMoment: false)
        } catch let error as StorageError where error.isOfRemovedCollection {
            try await removeIndex(index)
            throw error
        } catch {
            // It is not known. The creation has thrown an error, too, or is complete.
            bodegaLogger.debug("A collection could not be looked for.", metadata: ["error": "\(error)"])
        }
    }

    private func build(
        _ index: StorageIndex, reporting progress: (@Sendable (_ examined: Int, _ total: Int) -> Void)?
    ) async throws {
        try await checkExistence()
        let total = progress == nil ? 0 : try await fetchCount()
        if try await fetchIndexes().contains(index) {
            if index.searchForm != nil { try await database.searchUpdates.complete(number) }
            progress?(total, total)
        } else if index.searchForm != nil {
            var builder = try searchBuilder(of: index)
            if let progress { builder.progress = { progress(min($0, total), total) } }
            try await builder.create()
            progress?(total, total)
        } else {
            var builder = try builder(of: index)
            builder.progress = progress.map {
                IndexBuildProgress(
                    pool: database.pool, clock: database.retries.clock, report: $0, total: total)
            }
            try await builder.create()
        }
    }

    /// Removes an index, also an incomplete one, and its forms for other versions of this package.
    ///
    /// The rights are those for ``createIndex(_:progress:)``. Readers and writers wait for a moment.
    public func removeIndex(_ index: StorageIndex) async throws {
        if index.searchForm != nil {
            let rows = try await database.perform { [number] in
                try await $0.run(SearchTable.find(ofCollection: number))
            }
            let found = try SearchTable.found(rows, ofCollection: number)
            if found.contains(where: { $0.index == index }) { try await searchBuilder(of: index).remove() }
            return
        }
        let indexes = try await database.perform { try await TableCatalog.read($0).indexes }
        let builder = try builder(of: index)
        // Without one, no right is needed.
        if indexes.contains(where: { builder.index.isName($0.name) }) { try await builder.remove() }
    }

    private func searchBuilder(of index: StorageIndex) throws -> SearchTableBuilder {
        try checkMoment()
        return SearchTableBuilder(
            table: SearchTable(index: index, collection: number), pool: database.pool, retries: database.retries,
            timeout: database.options.timeout)
    }

    private func checkMoment() throws {
        if database.isAtMoment {
            throw StorageError(
                .invalidArgument,
                "The server waits for the end of the moment at which the task reads. Change indexes outside of it.")
        }
    }

    private func builder(of index: StorageIndex) throws -> IndexBuilder {
        try checkMoment()
        return IndexBuilder(
            index: ItemIndex(index: index, collection: number), pool: database.pool, retries: database.retries,
            timeout: database.options.timeout)
    }
}

extension ScanStatement {

    /// The statement on all items of a scan; `nil` if the scan has none, or is a search.
    init?(_ scan: StorageScan, ofCollection number: Int32) throws {
        switch scan {
        case .all(let position):
            try self.init(collection: number, index: nil)
            if let position { require(after: Int64(position)) }
        case .irregular(let index):
            try self.init(collection: number, index: index, equal: [SortKeyBytes.irregular])
        case .search: return nil
        case .approximate:
            return nil
        case .range(let index, let equal, let lower, let upper, let isDescending, let place):
            try self.init(collection: number, index: index, equal: equal.map(SortKeyBytes.bytes))
            if upper == .end {
                require(SortKeyBytes.none)
                if let place, place.sortKey == StorageSortKey.none { require(after: Int64(place.position)) }
                return
            }
            require(from: lower, to: upper)
            guard let place else { return }
            let key = SortKeyBytes.bytes(of: try IndexScan.key(of: place))
            if isDescending {
                require(afterDescending: key, Int64(place.position))
            } else {
                require(after: [key], Int64(place.position))
            }
        }
    }
}
#endif
