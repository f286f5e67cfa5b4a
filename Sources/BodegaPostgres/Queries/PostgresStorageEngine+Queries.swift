#if Postgres
public import Bodega
import Foundation

extension PostgresStorageEngine: QueryableStorageEngine {

    /// Passes on items in order, all from one snapshot. See ``/Bodega/QueryableStorageEngine/scan(_:_:)``.
    ///
    /// A connection is in use until the last item was received. If it is lost, the scan begins again with another
    /// receiver.
    public func scan(_ scans: [StorageScan], _ begin: @escaping @Sendable () throws -> StorageReceiver) async throws {
        _ = try await count([], reading: scans, begin)
    }

    public func count(
        _ counted: [StorageScan], reading scans: [StorageScan],
        _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> Int {
        // An error of the receiver is passed on as it is.
        let failure = Locked<(any Error)?>(nil)
        let hasFound = Locked(false)
        func noting<Value>(_ body: () throws -> Value) throws -> Value {
            do {
                return try body()
            } catch {
                failure.withLock { $0 = error }
                throw error
            }
        }
        let count = try await database.perform { session in
            var count = 0
            do {
                let receive = try noting(begin)
                var reader = IndexScan(self, session)
                for scan in counted {
                    guard let statement = try ScanStatement(scan, ofCollection: self.number) else { continue }
                    count += try await reader.count(statement)
                }
                for (number, scan) in scans.enumerated() {
                    try await reader.run(scan) { entry in
                        hasFound.withLock { $0 = true }
                        return try noting { try receive(number, entry) }
                    }
                }
                try await reader.finish()
            } catch {
                // The session ends the transaction.
                if failure.withLock({ $0 }) == nil { throw error }
            }
            return count
        }
        if let error = failure.withLock({ $0 }) { throw error }
        if count == 0, !hasFound.withLock({ $0 }) { try await checkExistence() }
        return count
    }

    public func fetchEntries(keys: [CacheKey], index: StorageIndex?) async throws -> [StorageEntry] {
        let sortKey = index.map { SortKeyFunction.call($0, data: "i.data") } ?? "NULL::bytea"
        let statement = ItemStatements.entriesOfMany(sortKey: sortKey)
        return try await rows(of: keys, statement) { rows, row in
            let key = try rows.bytes(row, 3).flatMap(SortKeyBytes.key)
            let position: Int64 = try rows.number(row, 2)
            return (try rows.data(row, 1), StoragePlace(sortKey: key, position: Int(position)))
        }.map { StorageEntry(key: keys[$0.index], data: $0.value.0, place: $0.value.1) }
    }

    public func count(_ scan: StorageScan, upTo limit: Int) async throws -> Int {
        guard let statement = try ScanStatement(scan, ofCollection: number) else { return 0 }
        let settings = limit == .max ? ScanStatement.useIndexInAnyOrder : ScanStatement.useIndex
        let commands = [Command.beginSnapshot, settings, statement.count(upTo: limit), .commit]
        let patience = database.options.timeout
        let count = try await database.perform { session in
            let answers = try await session.run(commands, patience: patience)
            try answers.requireAll(commands.count)
            return Int(try answers[2].number(0, 0) as Int64)
        }
        if count == 0 { try await checkExistence() }
        return count
    }

    public func fetchIndexes() async throws -> Set<StorageIndex> {
        let rows = try await database.read(ItemIndex.usable(ofCollection: number))
        return try ItemIndex.indexes(rows, ofCollection: number)
    }

    /// Creates an index, unless it exists.
    ///
    /// The user must own the table `emporium_items`, and have the right to create functions in its schema. Other users
    /// need neither. The server builds the index without blocking readers and writers, one partition at a time, and
    /// waits for transactions that are older. Only a batch that locks the table, which is rare, waits for the end of a
    /// part. A build that was interrupted is continued by the next call, of any program.
    ///
    /// Programs that don't know this index keep it up to date when they write, and can write any bytes. The index uses
    /// one more connection while it is created.
    ///
    /// - Throws: A ``/Bodega/StorageError``: ``/Bodega/StorageError/Code/permissionDenied`` without these rights,
    ///   ``/Bodega/StorageError/Code/locked`` if other programs or open transactions prevented it for longer than
    ///   ``PostgresDatabase/Options/timeout``, plus the time of a build, ``/Bodega/StorageError/Code/invalidArgument``
    ///   if the path can't be in the database.
    public func createIndex(_ index: StorageIndex) async throws {
        try await checkExistence()
        if try await fetchIndexes().contains(index) { return }
        try await builder(of: index).create()
    }

    /// Removes an index, also an incomplete one, and its forms for other versions of this package.
    ///
    /// The rights are those for ``createIndex(_:)``. Readers and writers wait for a moment.
    public func removeIndex(_ index: StorageIndex) async throws {
        let indexes = try await database.perform { session in
            try await TableCatalog.read(session, patience: self.database.options.timeout).indexes
        }
        let builder = builder(of: index)
        // Without one, no right is needed.
        if indexes.contains(where: { builder.index.isName($0.name) }) { try await builder.remove() }
    }

    private func builder(of index: StorageIndex) -> IndexBuilder {
        IndexBuilder(
            index: ItemIndex(index: index, collection: number), pool: database.pool, retries: database.retries,
            timeout: database.options.timeout)
    }
}

extension ScanStatement {

    /// The statement on all items of a scan; `nil` if the scan has none.
    fileprivate init?(_ scan: StorageScan, ofCollection number: Int32) throws {
        switch scan {
        case .all(let position):
            self.init(collection: number, index: nil)
            if let position { require(after: Int64(position)) }
        case .irregular(let index):
            self.init(collection: number, index: index)
            require(SortKeyBytes.irregular)
        case .approximate:
            return nil
        case .range(let index, let lower, let upper, let isDescending, let place):
            self.init(collection: number, index: index)
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
                require(after: key, Int64(place.position))
            }
        }
    }
}
#endif
