import Bodega
import BodegaTesting
import Foundation

/// A defect of a change feed.
enum FeedDefect: String, CaseIterable, Sendable {
    case reversesChanges, tellsTheLastChangeAgain, tellsFailedBatches, neverLeavesOut, knowsAnyCursor
    case forgetsItsHistoryAtReopening, beginsWithoutItems, takesCursorsTooLate, signalsOnlyOnce, hearsOnlyItself
    case readsItemsTooLate, waitsForReaders, waitsForChanges

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .reversesChanges: .changesComeInOrder
        case .tellsTheLastChangeAgain: .changesComeOnce
        case .tellsFailedBatches: .failedBatchesTellNothing
        case .neverLeavesOut: .ownChangesCanBeLeftOut
        case .knowsAnyCursor: .unknownCursorsAreUnknown
        case .forgetsItsHistoryAtReopening: .cursorsSurviveReopening
        case .beginsWithoutItems: .feedsBeginWithASnapshot
        case .takesCursorsTooLate: .snapshotsFitTheirCursors
        case .readsItemsTooLate: .changedItemsFitTheirChanges
        case .signalsOnlyOnce: .signalsComeForEachChange
        case .hearsOnlyItself: .changesOfOthersAreTold
        case .waitsForReaders: .slowReadersHoldNobodyUp
        case .waitsForChanges: .cancelledFeedsEnd
        }
    }
}

/// An engine whose change feed has one defect. Without a defect, it fulfills every contract.
struct DefectiveFeed: ThrowingStorageEngine, ObservableStorageEngine {

    /// The operation that fails.
    static let refused = StorageOperation.write(key: CacheKey("refused"), data: Data())

    let medium: MemoryStorageEngine
    let defect: FeedDefect?
    private let written = Locked(0)
    private let own = ChangeSignals()

    init(_ medium: MemoryStorageEngine, defect: FeedDefect?) {
        self.medium = medium
        self.defect = defect
    }

    func fetch(key: CacheKey) async throws -> Data? { try await medium.fetch(key: key) }
    func fetchAll() async throws -> [(key: CacheKey, data: Data)] { try await medium.fetchAll() }
    func fetchKeys() async throws -> [CacheKey] { try await medium.fetchKeys() }
    func fetchDates(key: CacheKey) async throws -> StorageDates? { try await medium.fetchDates(key: key) }

    func apply(_ operations: [StorageOperation]) async throws {
        if operations.contains(Self.refused) {
            if defect == .tellsFailedBatches { try await medium.apply([.write(key: CacheKey("a"), data: Data())]) }
            throw StorageError(.inputOutput, "The test refuses it.")
        }
        let written = written.withLock { written in
            written += 1
            return written
        }
        if defect == .waitsForReaders, written > 100 { await forever() }
        try await medium.apply(operations)
        own.send()
    }

    func fetchCursor() async throws -> StorageCursor { try await medium.fetchCursor() }

    func fetchSnapshot() async throws -> StorageSnapshot {
        var snapshot = try await medium.fetchSnapshot()
        if defect == .beginsWithoutItems { snapshot.items = [] }
        if defect == .takesCursorsTooLate {
            // Retry until a write happens in between.
            while await medium.keyCount() > 0, try await medium.fetchCursor() == snapshot.cursor,
                await !medium.keyExists(CacheKey("end"))
            { await Task.yield() }
            snapshot.cursor = try await medium.fetchCursor()
        }
        return snapshot
    }

    func fetchChanges(since cursor: StorageCursor, besides origin: StorageOrigin?) async throws -> StorageDelta? {
        let origin = defect == .neverLeavesOut ? nil : origin
        guard var delta = try await medium.fetchChanges(since: cursor, besides: origin) else {
            guard defect == .knowsAnyCursor else { return nil }
            return StorageDelta(changes: [], cursor: try await medium.fetchCursor(), isComplete: true)
        }
        switch defect {
        case .reversesChanges: delta.changes.reverse()
        case .tellsTheLastChangeAgain: delta.changes += delta.changes.suffix(1)
        case .waitsForChanges where delta.changes.isEmpty: await forever()
        default: break
        }
        return delta
    }

    func fetchChangedItems(
        since cursor: StorageCursor, besides origin: StorageOrigin?
    ) async throws -> StorageChangedItems? {
        guard defect == .readsItemsTooLate else {
            return try await medium.fetchChangedItems(since: cursor, besides: origin)
        }
        guard let delta = try await fetchChanges(since: cursor, besides: origin) else { return nil }
        // Retry until one of them changes in between.
        let keys = Set(delta.changes.map(\.key))
        while !keys.isEmpty, await !medium.keyExists(CacheKey("end")),
            let next = try await medium.fetchChanges(since: delta.cursor, besides: nil),
            !next.changes.contains(where: { keys.contains($0.key) })
        { await Task.yield() }
        let items = try await fetch(keys: delta.changes.map(\.key))
        return StorageChangedItems(changes: delta.changes, items: items, cursor: delta.cursor)
    }

    func changeSignals() -> AsyncStream<Void> {
        switch defect {
        case .signalsOnlyOnce: ChangeSignals.once()
        case .hearsOnlyItself: own.stream()
        default: medium.changeSignals()
        }
    }

    private func forever() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        // The task's cancellation doesn't end the stream either.
        await Task { for await _ in stream {} }.value
        continuation.finish()
    }
}

extension ChangeSignals {
    /// A stream with no signals after the first one.
    fileprivate static func once() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        continuation.yield()
        silent.withLock { $0.append(continuation) }
        return stream
    }

    /// Keep the continuation, because the stream ends without it.
    private static let silent = Locked<[AsyncStream<Void>.Continuation]>([])
}
