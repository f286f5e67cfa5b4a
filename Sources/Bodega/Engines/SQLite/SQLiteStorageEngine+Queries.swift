import Foundation
import GRDB

extension SQLiteStorageEngine {

    public var indexes: (any StorageIndexes)? { self }

    public func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        if request.needsCursor { return try await scanSnapshot(request, begin) }
        // An error of the receiver is passed on as it is.
        let failure = Locked<(any Error)?>(nil)
        let isBehind = Locked(false)
        let outcome = try await core.readUntilCancelled(isShort: request.isShort) { [table] db, cancellation in
            failure.withLock { $0 = nil }
            var outcome = ScanOutcome()
            outcome.ranking = try request.ranking.map { try SQLiteSearch($0, of: table, in: db).ranking() }
            if request.isSearch {
                let isOneBehind = try SQLiteSearchUpdates.isAnyBehind(of: table, in: db)
                isBehind.withLock { $0 = isOneBehind }
            }
            for scan in request.counted where outcome.count < request.countLimit {
                let limit = request.countLimit == .max ? .max : request.countLimit - outcome.count
                outcome.count += try table.count(scan, upTo: limit, in: db)
            }
            if request.scans.isEmpty { return outcome }
            do {
                let receive = try begin()
                var reader = try SQLiteScanReader(table, within: request.within, request.fields, in: db)
                for (number, scan) in request.scans.enumerated() {
                    try reader.read(scan) { item in
                        // Decoding can take longer than reading.
                        try cancellation.check()
                        outcome.byteCount += item.data.count
                        do {
                            return try receive(number, item)
                        } catch {
                            failure.withLock { $0 = error }
                            throw error
                        }
                    }
                }
            } catch {
                if failure.withLock({ $0 }) == nil { throw error }
            }
            return outcome
        }
        if let error = failure.withLock({ $0 }) { throw error }
        if isBehind.withLock({ $0 }) { core.searchUpdates.begin(table, of: core) }
        return StorageAnswer(outcome)
    }

    /// Reads all items of a snapshot.
    private func scanSnapshot(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        guard request.scans == [.all(after: nil)], request.counted.isEmpty else {
            throw StorageError(.invalidArgument, "A snapshot consists of all items.")
        }
        let state = Locked(SnapshotState())
        let cursor = try await readSnapshot { number, items in
            state.withLock { state in
                do {
                    if number == 0 { state = SnapshotState(receive: try begin()) }
                    guard let receive = state.receive, state.failure == nil else { return }
                    for (key, data) in items {
                        state.byteCount += data.count
                        if try !receive(0, StorageItem(key: key, data: data)) {
                            state.receive = nil
                            break
                        }
                    }
                } catch {
                    state.failure = error
                }
            }
        }
        let end = state.withLock { $0 }
        if let failure = end.failure { throw failure }
        return StorageAnswer(ScanOutcome(byteCount: end.byteCount, cursor: cursor))
    }
}

/// How far a snapshot has been passed on.
private struct SnapshotState: Sendable {
    /// `nil` when the receiver has enough.
    var receive: StorageReceiver?
    var byteCount = 0
    var failure: (any Error)?
}

extension SQLiteStorageEngine: StorageIndexes {

    public func fetchIndexes() async throws -> Set<StorageIndex> {
        // Few rows, on the caller's thread.
        try await core.readOne { [table] db in
            var indexes = try SQLiteIndex.all(of: table, in: db)
            for search in try SQLiteSearchIndex.all(of: table, in: db) { indexes.insert(search.index) }
            return indexes
        }
    }

    /// Creates an index, unless it exists, see ``createIndex(_:progress:)``.
    public func createIndex(_ index: StorageIndex) async throws { try await createIndex(index) { _, _ in } }

    /// Creates an index, unless it exists.
    ///
    /// Readers don't wait, and other writers wait for about a tenth of a second at a time, or longer on a busy machine
    /// or a slow disk: the items are read in parts. A million items of 256 bytes take about seven seconds, and about 40
    /// MB of the file, of which 25 MB or less remain in use. Until the index is complete, each write of other programs
    /// takes longer, and so does a large batch.
    ///
    /// Programs with other libraries, such as Bodega 2, keep the index up to date when they write, also while it is
    /// created, and can write any bytes. A large item is in memory while it is written to a collection with an index.
    ///
    /// If the task is cancelled before the index is complete, this throws a `CancellationError`, and nothing remains,
    /// unless another program goes on with the creation.
    /// If the program ends before, the next call goes on, in any program, and ``removeIndex(_:)`` removes what there
    /// is. Several programs can create an index together.
    ///
    /// An index for searches is used from the first part on; a search reads the items that are not in it yet. If the
    /// task is cancelled, or the program ends, it remains, and goes on with the next search or large batch.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - progress: Receives the number of items that were read so far, and the number of all.
    public func createIndex(
        _ index: StorageIndex, progress: @escaping @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        if index.searchForm != nil { return try await createSearchIndex(index, progress) }
        let index = try SQLiteIndex(index, of: table)
        try await SQLiteIndexBuilder(of: index, table, in: core, progress: progress).create()
    }

    private func createSearchIndex(
        _ index: StorageIndex, _ progress: @Sendable (_ examined: Int, _ total: Int) -> Void
    ) async throws {
        try await core.writeUntilCancelled { [table] db in
            if try SQLiteSearchIndex.all(of: table, in: db).contains(where: { $0.index == index }) { return }
            try SQLiteSearchIndex.create(index, of: table, in: db)
        }
        let total = try await fetchCount()
        var examined = 0
        while true {
            let step = try await core.updateSearches(of: table)
            examined = step.hasMore ? min(examined + step.rows, total) : total
            progress(examined, total)
            if !step.hasMore { return }
            try Task.checkCancellation()
        }
    }

    public func removeIndex(_ index: StorageIndex) async throws {
        if index.searchForm != nil {
            return try await core.writeUnreported { [table] db in
                try SQLiteSearchIndex.remove(index, of: table, in: db)
            }
        }
        let index = try SQLiteIndex(index, of: table)
        try await core.writeUnreported { db in try db.execute(sql: "DROP INDEX IF EXISTS \(index.name)") }
        try await SQLiteIndexBuilder(of: index, table, in: core).remove()
    }
}
