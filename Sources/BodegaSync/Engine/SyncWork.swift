import Bodega
import Foundation

/// A collection that is synchronized.
struct SyncedCollection: Sendable {
    /// The local engine.
    let engine: any StorageBackend
    let policy: SyncConflictPolicy
    /// What the app's type makes of stored bytes; `nil` if unknown properties are not preserved.
    let known: (@Sendable (Data, CacheKey) throws -> Data)?
}

/// The collections that are synchronized.
final class SyncedCollections: Sendable {
    private let open: @Sendable (String) async throws -> any StorageBackend
    private let collections = Locked<[ExactText: SyncedCollection]>([:])
    /// The local engines of those that the program has not opened, as far as its changes concern them.
    private let others = Locked<[ExactText: any StorageBackend]>([:])
    /// Those that the last pull could not read.
    private let missing = Locked<Set<ExactText>>([])
    /// Those to which the client has no right to write, with the error, and whether a pull has reported it.
    private let denied = Locked<[ExactText: (error: StorageError, isReported: Bool)]>([:])

    init(_ open: @escaping @Sendable (String) async throws -> any StorageBackend) { self.open = open }

    var names: [String] { collections.withLock { $0.keys.map(\.text).sorted() } }

    func collection(_ name: String) -> SyncedCollection? { collections.withLock { $0[ExactText(name)] } }

    /// - Throws: An error if the collection is not open.
    func engine(_ name: String) throws -> any StorageBackend {
        guard let engine = localEngine(name) else {
            throw StorageError(
                .invalidArgument,
                "The change concerns the collection \"\(name)\", too, which is not open. Open it first.")
        }
        return engine
    }

    /// The local engine on a collection that the program has opened, or that its changes concern.
    func localEngine(_ name: String) -> (any StorageBackend)? {
        collection(name)?.engine ?? others.withLock { $0[ExactText(name)] }
    }

    /// Opens the local engine on a collection that the program has not opened.
    func openOther(_ name: String) async throws {
        if localEngine(name) != nil { return }
        let engine = try await open(name)
        others.withLock { $0[ExactText(name)] = engine }
    }

    /// Whether the program synchronizes the collections of all items of a request.
    func contain(_ request: SentRequest) -> Bool { request.items.allSatisfy(contain) }

    /// Whether the program may send a request of another one, which may have ended: if it has opened one of its
    /// collections, because nothing else can be sent of the items that are on their way. If its outcome is known, the
    /// program must have opened all collections of a transaction to go on with it.
    func concern(_ request: SentRequest) -> Bool {
        request.wasApplied == nil
            ? request.items.contains(where: contain) : request.groups.contains { $0.allSatisfy(contain) }
    }

    private func contain(_ item: SyncItemID) -> Bool { collection(item.collection) != nil }

    func isMissing(_ name: String) -> Bool { missing.withLock { $0.contains(ExactText(name)) } }

    func isDenied(_ name: String) -> Bool { denied.withLock { $0[ExactText(name)] != nil } }

    func deny(_ names: some Sequence<String>, _ error: StorageError) {
        denied.withLock { denied in for name in names { denied[ExactText(name)] = (error, false) } }
    }

    /// Reports the collections whose changes wait for a right, each by two pulls: the delay between them grows with
    /// each report, and the changes are tried again after the second one.
    func reportDenied() -> StorageError? {
        denied.withLock { denied in
            let error = denied.min { $0.key.text < $1.key.text }?.value.error
            denied = denied.filter { !$0.value.isReported }.mapValues { ($0.error, true) }
            return error
        }
    }

    func setMissing(_ names: some Sequence<String>) { missing.withLock { $0 = Set(names.map { ExactText($0) }) } }

    /// - Throws: An error if the name is reserved, or another collection has a name that looks the same.
    func add(_ collection: SyncedCollection, named name: String) throws {
        if name.hasPrefix(LocalOutbox.reservedPrefix) {
            throw StorageError(
                .invalidArgument,
                "Names that begin with \(LocalOutbox.reservedPrefix) are for synchronization itself. Choose another.")
        }
        try collections.withLock { collections in
            if collections.keys.contains(where: { $0.text == name && $0 != ExactText(name) }) {
                throw StorageError(
                    .invalidArgument,
                    "A collection is open whose name is another spelling of \"\(name)\". Choose another name.")
            }
            collections[ExactText(name)] = collection
        }
    }
}

/// The transactions and requests of a synchronization.
struct SyncWork: Sendable {
    let outbox: OutboxStorage
    let remote: any SyncRemote
    let collections: SyncedCollections
    let state: SyncState
    /// The origin of the changes that pulls make in local collections.
    let origin = StorageOrigin()
    /// Requests that were taken from the outbox and not sent yet.
    private let prepared = Locked<[UUID: SyncRequest]>([:])
    private let resting = Locked(RestingItems())
    /// The number of calls of ``prepare(limit:waking:)``, which take turns.
    private let preparations = Locked(0)

    private static let partSize = 500
    static let maximumBytes = 1 << 20

    var emptyDraft: OutboxDraft {
        OutboxDraft(newID: { UUID() }, maximumItems: remote.maximumItems) { [collections] versions in
            let policy = collections.collection(versions.collection)?.policy ?? .laterWins
            return policy.merge(versions)
        }
    }

    /// Changes a part of the outbox in one transaction, which is repeated if it comes across another.
    ///
    /// - Parameters:
    ///   - items: The items that concern the change.
    ///   - known: Records that were read already.
    ///   - needsPlace: Whether requests and cursors concern it.
    ///   - move: Changes the cursors, or throws an error if they are not as expected.
    ///   - change: The change.
    @discardableResult
    func transact<Result>(
        _ items: [SyncItemID], known: [SyncItemID: OutboxStorage.ReadRecord] = [:], needsPlace: Bool = false,
        moving move: (inout OutboxStorage.SyncPlace) throws -> Void = { _ in },
        _ change: (inout OutboxDraft) throws -> Result
    ) async throws -> Result {
        try await state.counting { try await transactUncounted(items, known, needsPlace, move, change) }
    }

    private func transactUncounted<Result>(
        _ items: [SyncItemID], _ known: [SyncItemID: OutboxStorage.ReadRecord], _ needsPlace: Bool,
        _ move: (inout OutboxStorage.SyncPlace) throws -> Void, _ change: (inout OutboxDraft) throws -> Result
    ) async throws -> (value: Result, change: OutboxChange) {
        var (attempts, known) = (ConditionalAttempts(), known)
        while true {
            let reading = try await outbox.read(
                items, known: known, needsPlace: needsPlace, emptyDraft, collections.localEngine)
            // They may have changed if the transaction is repeated.
            known = [:]
            var draft = reading.draft
            let result = try change(&draft)
            guard var batches = itemBatches(reading, draft) else {
                for (name, _) in reading.recordItems.byCollection { try await collections.openOther(name) }
                continue
            }
            var place = reading.place
            if var moved = place {
                try move(&moved)
                place = moved
            }
            batches += try outbox.batches(reading, draft, place: place, now: Date())
            if batches.allSatisfy(\.batch.operations.isEmpty) { return (result, OutboxChange()) }
            if try await StorageBatchGroup.apply(batches).allSatisfy(\.value.wasApplied) {
                return (result, OutboxChange(from: reading, to: draft))
            }
            try Task.checkCancellation()
            try attempts.fail(items.first?.key)
        }
    }

    /// The batches that make of the items what the user sees.
    ///
    /// - Returns: `nil` if a collection must be opened for that.
    private func itemBatches(
        _ reading: OutboxStorage.Reading, _ draft: OutboxDraft
    ) -> [(engine: any StorageBackend, batch: StorageBatch)]? {
        var batches: [(engine: any StorageBackend, batch: StorageBatch)] = []
        for (name, items) in reading.recordItems.byCollection {
            guard let engine = collections.localEngine(name) else {
                for item in items {
                    guard let old = reading.draft.records[item] else { continue }
                    let new = draft.records[item].map(\.visible) ?? draft.items[item]
                    if old.visible != new { return nil }
                }
                continue
            }
            var batch = StorageBatch([], if: [], origin: origin)
            batch.heedsReferences = false
            for item in items {
                let (old, data) = (reading.items[item], draft.items[item])
                if old == data { continue }
                batch.operations.append(data.map { .write(key: item.key, data: $0) } ?? .remove(key: item.key))
                // The remote version of an item without a record replaces any other.
                if reading.records[item] != nil || draft.records[item] != nil {
                    batch.conditions?.append(StorageCondition(key: item.key, data: old))
                }
            }
            if !batch.operations.isEmpty { batches.append((engine, batch)) }
        }
        return batches
    }

    // MARK: Effects

    /// Takes changes from the outbox for a request.
    ///
    /// - Returns: The request, all without an outcome, also those of other programs, and whether changes wait for
    ///   others with which they are sent.
    func prepare(
        limit: Int, waking wakes: Bool
    ) async throws -> (request: SentRequest?, all: [SentRequest], waits: Bool) {
        let limit = min(limit, remote.maximumItems)
        let isTurnOfOthers = preparations.withLock { count in
            count += 1
            return count.isMultiple(of: 2)
        }
        if wakes { resting.withLock { $0.wake() } }
        let place = try await outbox.fetchPlace()
        // Changes of collections that this program has not opened wait. So do those before the first pull: the log
        // shows what becomes of a request only after its cursor.
        let canSend: @Sendable (String) -> Bool = { [collections] name in
            collections.collection(name) != nil && !collections.isMissing(name) && !collections.isDenied(name)
                && place.hasPulled(name)
        }
        var (waiting, knowsWaiting) = (Set<UUID>(), false)
        let requests = Set(place.requests.map(\.id))
        while true {
            let (items, known) = try await outbox.candidates(
                limit: limit, maximumBytes: Self.maximumBytes, requests: requests, isTurnOfOthers: isTurnOfOthers,
                in: canSend
            ) { [resting, waiting] item, edit in
                edit.group.map(waiting.contains) != true
                    && resting.withLock { $0.mayBeSent(item, edit) }
            }
            if items.isEmpty { return (nil, place.requests.filter(collections.concern), !waiting.isEmpty) }
            let taken = try await transact(items, known: known, needsPlace: true) { draft -> Taken in
                draft.takeBackLost()
                // They would take the room of those after them, each time.
                if !knowsWaiting, draft.mustWait(oneOf: items, where: canSend) { return .mustWait }
                let request = draft.take(items, upTo: limit, maximumBytes: Self.maximumBytes, where: canSend)
                return .request(request, all: draft.requests.filter(collections.concern))
            }
            if case .request(let request, let all) = taken {
                if let request { prepared.withLock { $0[request.id] = request } }
                return (all.last { $0.id == request?.id }, all, !waiting.isEmpty)
            }
            (waiting, knowsWaiting) = (try await outbox.waitingGroups(where: canSend), true)
        }
    }

    /// What a transaction has taken from the outbox.
    private enum Taken {
        case request(SyncRequest?, all: [SentRequest])
        /// Nothing, because some of the candidates wait for others with which they are sent.
        case mustWait
    }

    /// - Returns: The changes of a request, and whether it was sent before; `nil` if its outcome is known already.
    private func batch(_ id: UUID) async throws -> (batch: SyncBatch, isRepeated: Bool)? {
        let place = try await outbox.fetchPlace()
        var request = prepared.withLock { $0.removeValue(forKey: id) }
        let isRepeated = request == nil
        guard let sent = place.requests.first(where: { $0.id == id }) else { return nil }
        if request == nil { request = try await read(sent) }
        return request.map { request in
            let changes = request.changes.map {
                SyncBatch.Change(collection: $0.item.collection, key: $0.item.key, base: $0.base, data: $0.data)
            }
            return (SyncBatch(id: id, changes: changes), isRepeated)
        }
    }

    private func read(_ sent: SentRequest) async throws -> SyncRequest? {
        var reading = try await outbox.read(sent.items, needsPlace: false, emptyDraft, collections.localEngine)
        reading.draft.requests = [sent]
        return reading.draft.request(sent.id)
    }

    /// Sends a request.
    ///
    /// - Returns: The answer; `nil` if its outcome is known already.
    /// - Throws: An error if there is none.
    func send(_ id: UUID) async throws -> SyncAnswer? {
        guard let (batch, isRepeated) = try await batch(id) else { return nil }
        if batch.changes.count > remote.maximumItems {
            return .refused(
                SyncFailure(
                    code: StorageError.Code.invalidArgument.rawValue,
                    message: "The remote database can't change \(batch.changes.count) items together."))
        }
        do {
            return try await remote.apply(batch) ? .applied : .conflict
        } catch let failure as StorageError where failure.code == .cannotOpen && batch.isOfAny(collections.isMissing) {
            // The client has lost its right to a collection, for example. The changes of others don't wait for it.
            do { return try await remote.fence(batch) ? .applied : .conflict } catch is StorageError { throw failure }
        } catch let error as StorageError where error.code == .identifierUsed {
            // It was fenced, or applied with other bytes, for instance encrypted again.
            return try await remote.fence(batch) ? .applied : .conflict
        } catch let error as StorageError where !batch.collectionsDenied(by: error).isEmpty {
            collections.deny(batch.collectionsDenied(by: error), error)
            do {
                return try await remote.fence(batch) ? .applied : .conflict
            } catch let other as StorageError {
                // A client that may write to no collection may not end a batch, either. What was sent only once was
                // refused, so its changes can be given up.
                if other.code == .permissionDenied, !isRepeated { return .conflict }
                throw error
            }
        } catch let error as StorageError where error.isRefusal {
            return .refused(SyncFailure(error), of: batch.item(refusedWith: error))
        }
    }

    func fence(_ id: UUID) async throws -> Bool {
        guard let (batch, _) = try await batch(id) else { return true }
        return try await remote.fence(batch)
    }

    func signals(of names: [String]) -> AsyncStream<SyncMachine.Event> {
        let (stream, continuation) = AsyncStream<SyncMachine.Event>.makeStream()
        let remote = remote.signals(of: names)
        // Other programs may write to the same database.
        let logs = names.compactMap { collections.collection($0)?.engine.log }
        let task = Task { [origin] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in remote { continuation.yield(.remoteChanged) } }
                for log in logs {
                    group.addTask {
                        for await _ in log.changeSignals(excluding: origin) { continuation.yield(.outboxChanged) }
                    }
                }
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

extension StorageError {
    /// Whether the same request would be refused again.
    var isRefusal: Bool {
        let temporary: Set<Code> = [
            .unreachable, .timedOut, .inputOutput, .locked, .suspended, .closed, .storageFull, .placeRemoved,
            .cannotOpen, Code(rawValue: "rateLimited"), .unauthorized,
        ]
        return !temporary.contains(code)
    }
}

extension SyncBatch {
    /// Whether the batch changes an item of a collection with a property.
    fileprivate func isOfAny(_ hasProperty: (_ collection: String) -> Bool) -> Bool {
        changes.contains { hasProperty($0.collection) }
    }

    /// The collections to which a client may not write at all, as far as the remote database has found out.
    fileprivate func collectionsDenied(by error: StorageError) -> Set<String> {
        (error.cause as? MissingRights)?.collections ?? []
    }

    /// The item whose change is refused with an error, regardless of the others; `nil` if it is not known.
    ///
    /// A missing right names the item that needs it. Other errors can be about what several items are together.
    fileprivate func item(refusedWith error: StorageError) -> SyncItemID? {
        guard error.code == .permissionDenied, let key = error.key else { return nil }
        let named = changes.filter { $0.key == key }
        // Several collections can have an item under the key.
        return named.count == 1 ? SyncItemID(collection: named[0].collection, key: key) : nil
    }
}
