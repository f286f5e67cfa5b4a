import Bodega
import BodegaTesting
import Foundation

/// A defect of a change feed.
enum FeedDefect: String, CaseIterable, Sendable {
    case reversesChanges, repeatsTheLastChange, reportsFailedBatches, ignoresExclusions, knowsAnyCursor
    case losesItsLogAtReopening, beginsWithoutItems, readsCursorsTooLate, signalsOnlyOnce, ignoresOtherEngines
    case readsItemsTooLate, waitsForReaders, waitsForChanges, hasNoCursors

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
        case .hasNoCursors: .scansHaveTheirCursors
        case .readsItemsTooLate: .changedItemsFitTheirChanges
        case .signalsOnlyOnce: .signalsComeForEachChange
        case .ignoresOtherEngines: .changesOfOtherEnginesAreReported
        case .waitsForReaders: .slowReadersDoNotBlockWriters
        case .waitsForChanges: .cancelledFeedsEnd
        }
    }
}

/// An engine whose change feed has one defect. Without a defect, it fulfills every contract.
struct DefectiveFeed: DefectiveEngine, StorageLog {

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

    var log: (any StorageLog)? { self }

    func apply(_ batch: StorageBatch) async throws -> StorageAnswer<BatchOutcome> {
        if batch.operations.contains(Self.refused) {
            if defect == .reportsFailedBatches { try await storage.apply([.write(key: CacheKey("a"), data: Data())]) }
            throw StorageError(.inputOutput, "The test refuses it.")
        }
        let written = written.withLock { written in
            written += 1
            return written
        }
        if defect == .waitsForReaders, written > 100 { await forever() }
        let answer = try await storage.apply(batch)
        own.send()
        return answer
    }

    func fetchCursor() async throws -> StorageCursor { try await storage.fetchCursor() }

    func scan(
        _ request: ScanRequest, _ begin: @escaping @Sendable () throws -> StorageReceiver
    ) async throws -> StorageAnswer<ScanOutcome> {
        guard request.needsCursor else { return try await storage.scan(request, begin) }
        let isEmpty = defect == .beginsWithoutItems
        var answer = try await storage.scan(request) {
            let receive = try begin()
            return { number, item in try isEmpty || receive(number, item) }
        }
        if defect == .hasNoCursors { answer.value.cursor = nil }
        if defect == .readsCursorsTooLate {
            // Retry until a write happens in between.
            while await storage.keyCount() > 0, try await storage.fetchCursor() == answer.value.cursor,
                await !storage.keyExists(CacheKey("end"))
            { await Task.yield() }
            answer.value.cursor = try await storage.fetchCursor()
        }
        return answer
    }

    func fetchChanges(_ request: ChangesRequest) async throws -> StorageAnswer<StorageDelta?> {
        if request.needsItems, defect != .readsItemsTooLate { return try await storage.fetchChanges(request) }
        let origin = defect == .ignoresExclusions ? nil : request.excluded
        guard var delta = try await storage.fetchChanges(since: request.cursor, excluding: origin) else {
            guard defect == .knowsAnyCursor else { return StorageAnswer(nil) }
            let end = try await storage.fetchCursor()
            return StorageAnswer(StorageDelta(changes: [], cursor: end, isComplete: true))
        }
        switch defect {
        case .reversesChanges: delta.changes.reverse()
        case .repeatsTheLastChange: delta.changes += delta.changes.suffix(1)
        case .waitsForChanges where delta.changes.isEmpty: await forever()
        case .readsItemsTooLate where request.needsItems: delta.items = try await laterItems(delta)
        default: break
        }
        return StorageAnswer(delta)
    }

    /// The items after one of them has changed again.
    private func laterItems(_ delta: StorageDelta) async throws -> [StorageItem] {
        let keys = Set(delta.changes.map(\.key))
        while !keys.isEmpty, await !storage.keyExists(CacheKey("end")),
            let next = try await storage.fetchChanges(since: delta.cursor, excluding: nil),
            !next.changes.contains(where: { keys.contains($0.key) })
        { await Task.yield() }
        return try await storage.fetch(FetchRequest(delta.changes.map(\.key))).value
    }

    func changeSignals(excluding origin: StorageOrigin?) -> AsyncStream<Void> {
        switch defect {
        case .signalsOnlyOnce: ChangeSignals.once()
        case .ignoresOtherEngines: own.stream()
        default: storage.changeSignals(excluding: origin)
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
