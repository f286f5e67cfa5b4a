import Bodega
import BodegaTesting
import Foundation

/// A defect of a change feed.
enum FeedDefect: String, CaseIterable, Sendable {
    case reversesChanges, repeatsTheLastChange, reportsFailedBatches, ignoresExclusions, knowsAnyCursor
    case losesItsLogAtReopening, beginsWithoutItems, readsCursorsTooLate, signalsOnlyOnce, ignoresOtherEngines
    case readsItemsTooLate, waitsForReaders, waitsForChanges

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .reversesChanges: .changesComeInOrder
        case .repeatsTheLastChange: .changesComeOnce
        case .reportsFailedBatches: .failedBatchesReportNothing
        case .ignoresExclusions: .ownChangesCanBeLeftOut
        case .knowsAnyCursor: .unknownCursorsAreUnknown
        case .losesItsLogAtReopening: .cursorsSurviveReopening
        case .beginsWithoutItems: .feedsBeginWithASnapshot
        case .readsCursorsTooLate: .snapshotsFitTheirCursors
        case .readsItemsTooLate: .changedItemsFitTheirChanges
        case .signalsOnlyOnce: .signalsComeForEachChange
        case .ignoresOtherEngines: .changesOfOtherEnginesAreReported
        case .waitsForReaders: .slowReadersDoNotBlockWriters
        case .waitsForChanges: .cancelledFeedsEnd
        }
    }
}

/// An engine whose change feed has one defect. Without a defect, it fulfills every contract.
struct DefectiveFeed: DefectiveEngine, ObservableStorageEngine {

    /// The operation that fails.
    static let refused = StorageOperation.write(key: CacheKey("refused"), data: Data())

    let storage: MemoryStorageEngine
    let defect: FeedDefect?
    private let written = Locked(0)
    private let own = ChangeSignals()

    init(_ storage: MemoryStorageEngine, defect: FeedDefect?) {
        self.storage = storage
        self.defect = defect
    }

    func apply(_ operations: [StorageOperation]) async throws {
        if operations.contains(Self.refused) {
            if defect == .reportsFailedBatches { try await storage.apply([.write(key: CacheKey("a"), data: Data())]) }
            throw StorageError(.inputOutput, "The test refuses it.")
        }
        let written = written.withLock { written in
            written += 1
            return written
        }
        if defect == .waitsForReaders, written > 100 { await forever() }
        try await storage.apply(operations)
        own.send()
    }

    func fetchCursor() async throws -> StorageCursor { try await storage.fetchCursor() }

    func fetchSnapshot() async throws -> StorageSnapshot {
        var snapshot = try await storage.fetchSnapshot()
        if defect == .beginsWithoutItems { snapshot.items = [] }
        if defect == .readsCursorsTooLate {
            // Retry until a write happens in between.
            while await storage.keyCount() > 0, try await storage.fetchCursor() == snapshot.cursor,
                await !storage.keyExists(CacheKey("end"))
            { await Task.yield() }
            snapshot.cursor = try await storage.fetchCursor()
        }
        return snapshot
    }

    func fetchChanges(since cursor: StorageCursor, excluding origin: StorageOrigin?) async throws -> StorageDelta? {
        let origin = defect == .ignoresExclusions ? nil : origin
        guard var delta = try await storage.fetchChanges(since: cursor, excluding: origin) else {
            guard defect == .knowsAnyCursor else { return nil }
            return StorageDelta(changes: [], cursor: try await storage.fetchCursor(), isComplete: true)
        }
        switch defect {
        case .reversesChanges: delta.changes.reverse()
        case .repeatsTheLastChange: delta.changes += delta.changes.suffix(1)
        case .waitsForChanges where delta.changes.isEmpty: await forever()
        default: break
        }
        return delta
    }

    func fetchChangedItems(
        since cursor: StorageCursor, excluding origin: StorageOrigin?
    ) async throws -> (delta: StorageDelta, items: [(key: CacheKey, data: Data)])? {
        guard defect == .readsItemsTooLate else {
            return try await storage.fetchChangedItems(since: cursor, excluding: origin)
        }
        guard let delta = try await fetchChanges(since: cursor, excluding: origin) else { return nil }
        // Retry until one of them changes in between.
        let keys = Set(delta.changes.map(\.key))
        while !keys.isEmpty, await !storage.keyExists(CacheKey("end")),
            let next = try await storage.fetchChanges(since: delta.cursor, excluding: nil),
            !next.changes.contains(where: { keys.contains($0.key) })
        { await Task.yield() }
        let items = try await fetch(keys: delta.changes.map(\.key))
        return (delta, items)
    }

    func changeSignals() -> AsyncStream<Void> {
        switch defect {
        case .signalsOnlyOnce: ChangeSignals.once()
        case .ignoresOtherEngines: own.stream()
        default: storage.changeSignals()
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
