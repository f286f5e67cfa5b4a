import Bodega
import Foundation

// The user's changes.
extension SyncWork {

    /// Applies batches of the user, with their changes in the outbox.
    func write(_ parts: [(collection: String, batch: StorageBatch)]) async throws -> [BatchOutcome] {
        try await state.counting { try await writeUncounted(parts) }
    }

    private func writeUncounted(
        _ parts: [(collection: String, batch: StorageBatch)]
    ) async throws -> (value: [BatchOutcome], change: OutboxChange) {
        var attempts = ConditionalAttempts()
        while true {
            var parts = try await parts.asyncMap { try await resolved($0) }
            let removal = try await UserRemoval(of: &parts, in: collections) {
                try await outbox.fetchPlace().collections.contains($0)
            }
            let items =
                parts.flatMap { part in part.keys.map { SyncItemID(collection: part.collection, key: $0) } }
                + (removal?.changes.map(\.item) ?? [])
            let reading = try await outbox.read(items, needsPlace: false, emptyDraft, collections.localEngine)
            var draft = reading.draft
            var batches: [(engine: any StorageBackend, batch: StorageBatch)] = []
            var changes: [(item: SyncItemID, data: Data?)] = []
            for var part in parts {
                for condition in part.batch.conditions ?? [] {
                    let item = SyncItemID(collection: part.collection, key: condition.key)
                    guard reading.items[item] == condition.data else {
                        return (parts.map { _ in BatchOutcome(wasApplied: false) }, OutboxChange())
                    }
                }
                try preserve(in: &part, reading)
                changes += part.changes
                part.batch.conditions = Set(part.keys).map { key in
                    StorageCondition(
                        key: key, data: reading.items[SyncItemID(collection: part.collection, key: key)])
                }
                batches.append((try collections.engine(part.collection), part.batch))
            }
            let isOne = parts.count > 1 || parts.contains(where: \.isOne)
            if isOne, changes.count > remote.maximumItems {
                throw StorageError(
                    .tooLarge,
                    """
                    The transaction changes \(changes.count) items. The remote database changes at most \
                    \(remote.maximumItems) together. Divide the transaction.
                    """)
            }
            if removal?.isBased(on: reading) ?? true {
                note(changes, asOne: isOne, removal, in: &draft)
                batches += try removal?.batches(in: collections) ?? []
                batches += try outbox.batches(reading, draft, now: Date())
                let answers = try await StorageBatchGroup.apply(batches)
                if answers.allSatisfy(\.value.wasApplied) {
                    // A store has to read what has followed, too.
                    let hasMore = removal?.changes.isEmpty == false
                    let outcomes = answers.prefix(parts.count).map { hasMore ? BatchOutcome() : $0.value }
                    return (outcomes, OutboxChange(from: reading, to: draft))
                }
            }
            for part in parts {
                guard let basis = part.batch.basis else { continue }
                let end = try await collections.engine(part.collection).log?.fetchCursor()
                if end != basis { return (parts.map { _ in BatchOutcome(wasApplied: false) }, OutboxChange()) }
            }
            try Task.checkCancellation()
            try attempts.fail(changes.first?.item.key)
        }
    }

    /// Notes a user's changes in the outbox, and what follows from the removals among them.
    ///
    /// What follows from a removal is sent with it, so that none of it stays without the other, unless that is more
    /// than a request holds, or concerns a collection whose changes wait until a program opens it.
    private func note(
        _ changes: [(item: SyncItemID, data: Data?)], asOne isOne: Bool, _ removal: UserRemoval?,
        in draft: inout OutboxDraft
    ) {
        guard let removal, !removal.causes.isEmpty else { return draft.write(changes, asOne: isOne) }
        func fits(_ changes: [(item: SyncItemID, data: Data?)]) -> Bool {
            let sizes = changes.map { (draft.items[$0.item]?.count ?? 0) + ($0.data?.count ?? 0) }
            return changes.count <= remote.maximumItems && sizes.reduce(0, +) <= Self.maximumBytes
                && changes.allSatisfy { collections.collection($0.item.collection) != nil }
        }
        if isOne {
            let all = changes + removal.changes
            if fits(all) { return draft.write(all, asOne: true, causes: removal.causes) }
            draft.write(changes, asOne: true, causes: removal.causes)
            return draft.write(removal.changes, asOne: false, causes: removal.causes)
        }
        let byRoot = Dictionary(grouping: removal.changes) { removal.root(of: $0.item) }
        for change in changes {
            let following = byRoot[change.item] ?? []
            let isTogether = !following.isEmpty && fits([change] + following)
            draft.write([change] + following, asOne: isTogether, causes: removal.causes)
        }
    }

    /// A user's batch whose operations name their items.
    struct Part {
        let collection: String
        var batch: StorageBatch
        /// Whether the batch is a transaction, or depends on what its caller has read.
        let isOne: Bool

        var keys: [CacheKey] { changes.map(\.item.key) + (batch.conditions ?? []).map(\.key) }

        /// The last change of each item.
        var changes: [(item: SyncItemID, data: Data?)] {
            var (order, last): ([CacheKey], [CacheKey: Data?]) = ([], [:])
            for operation in batch.operations {
                switch operation {
                case .write(let key, let data):
                    if last.updateValue(data, forKey: key) == nil { order.append(key) }
                case .remove(let key):
                    if last.updateValue(Data?.none, forKey: key) == nil { order.append(key) }
                case .removeAll: break
                }
            }
            return order.map { key in
                (item: SyncItemID(collection: collection, key: key), data: last[key].flatMap { $0 })
            }
        }
    }

    private func resolved(_ part: (collection: String, batch: StorageBatch)) async throws -> Part {
        var batch = part.batch
        if batch.operations.contains(.removeAll) {
            // Each item has a change of its own in the outbox.
            let existing = try await collections.engine(part.collection).fetchKeys()
            let written = batch.operations.compactMap { operation in
                if case .write(let key, _) = operation { key } else { nil }
            }
            batch.operations = batch.operations.flatMap { operation -> [StorageOperation] in
                operation == .removeAll
                    ? (existing + written).map { .remove(key: $0) } : [operation]
            }
        }
        let isOne = batch.isTransaction || batch.conditions?.isEmpty == false || batch.basis != nil
        return Part(collection: part.collection, batch: batch, isOne: isOne)
    }

    /// Keeps the properties that the app's type does not know.
    private func preserve(in part: inout Part, _ reading: OutboxStorage.Reading) throws {
        guard let known = collections.collection(part.collection)?.known else { return }
        part.batch.operations = part.batch.operations.map { operation in
            guard case .write(let key, let data) = operation,
                let stored = reading.items[SyncItemID(collection: part.collection, key: key)]
            else { return operation }
            do {
                let known = try known(stored, key)
                return .write(key: key, data: JSONMerge.preserving(data, known: known, stored: stored))
            } catch {
                // The stored item is not one that this version of the app can read, so it is replaced.
                return operation
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
