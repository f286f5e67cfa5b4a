import Bodega
import Foundation

extension RecordObjects {

    func delete(_ identifiers: [Object.ID]) -> [Outcome<Object>] { core.operating { deleted(identifiers) } }

    private func deleted(_ identifiers: [Object.ID]) -> [Outcome<Object>] {
        let deletions: [Deletion<Object>] = identifiers.map { identifier in
            Deletion(identifier, Result { try key(of: identifier) })
        }
        for (deletion, failure) in zip(deletions, errors(inBatch: deletions, carryOut)) {
            if let failure { deletion.result = .failure(failure) }
        }
        return deletions.map { $0.outcome }
    }

    func deleteAll() throws -> [Outcome<Object>] { try core.operating { try allDeleted() } }

    private func allDeleted() throws -> [Outcome<Object>] {
        let items = try records.items()
        // An empty collection need not be locked or created.
        if items.isEmpty { return [] }
        // Unsafe here and below because another thread may run the closures, while this one waits for it.
        nonisolated(unsafe) let decoded = DecodedRecords(items, self)
        nonisolated(unsafe) var outcomes: [Outcome<Object>] = []
        nonisolated(unsafe) var removed: [RecordEffect] = []
        nonisolated(unsafe) let this = self
        try records.update { contents in
            (outcomes, removed) = ([], [])
            var indices: [CacheKey: Int] = [:]
            return try contents.allItems().compactMap { key, data in
                // An undecodable record could not be reported to observers, so it stays.
                guard case .success(let object) = decoded.object(key, data, this) else { return nil }
                let outcome = Outcome(identifier: object.codableStoreID, result: .success(object))
                let own = this.ownKey(of: object) ?? key
                if let index = indices[own] {
                    // If several records hold one object, the one under the object's own key is reported.
                    if own == key { (outcomes[index], removed[index]) = (outcome, .removed(key, data)) }
                } else {
                    indices[own] = outcomes.count
                    outcomes.append(outcome)
                    removed.append(.removed(key, data))
                }
                return .remove(key: key)
            }
        } committed: {
            for (outcome, effect) in zip(outcomes, removed) { this.enqueue(outcome, effect) }
        }
        return outcomes
    }

    /// Deletes objects as one batch.
    private func carryOut(_ deletions: [Deletion<Object>]) throws {
        let keys = deletions.compactMap(\.key)
        nonisolated(unsafe) let strays = try strays()
        let found = try keys.flatMap { strays.recordKeys(of: $0) }
            .compactMap { key in try records.data(of: key).map { (key: key, data: $0) } }
        for deletion in deletions { deletion.begin() }
        if found.isEmpty { return }
        nonisolated(unsafe) let decoded = DecodedRecords(found, self)
        nonisolated(unsafe) let this = self
        nonisolated(unsafe) let deletions = deletions
        try records.update { contents in
            var removed: Set<CacheKey> = []
            return try deletions.flatMap { deletion -> [StorageOperation] in
                deletion.begin()
                guard let key = deletion.key, !removed.contains(key) else { return [] }
                // The record under the object's own key is reported. Other records of the object are removed with it.
                let records = try strays.recordKeys(of: key).compactMap { key in
                    try contents.data(of: key).map { (key: key, data: $0) }
                }
                guard let (first, data) = records.first else { return [] }
                deletion.result = decoded.object(first, data, this)
                deletion.effect = .removed(first, data)
                guard case .success = deletion.result else { return [] }
                removed.insert(key)
                return records.map { .remove(key: $0.key) }
            }
        } committed: {
            for deletion in deletions {
                if let effect = deletion.effect { this.enqueue(deletion.outcome, effect) }
            }
        }
    }

    private func enqueue(_ outcome: Outcome<Object>, _ effect: RecordEffect) {
        guard case .success(let object) = outcome.result else { return }
        observers.enqueue(.deleted(object), effect)
        core.enqueue(effect, except: observers)
    }
}

/// The deletion of one object.
private final class Deletion<Object: BaseCodableStoreable> {
    let identifier: Object.ID
    let key: CacheKey?
    var result: Result<Object, any Error>
    /// The removal of the object's record, `nil` if there is no such record.
    var effect: RecordEffect?
    private let initial: Result<Object, any Error>

    init(_ identifier: Object.ID, _ key: Result<CacheKey, any Error>) {
        self.identifier = identifier
        switch key {
        case .success(let key):
            self.key = key
            initial = .failure(StorageError.notFound(identifier))
        case .failure(let error):
            self.key = nil
            initial = .failure(error)
        }
        result = initial
    }

    /// Resets the outcome before another attempt.
    func begin() { (result, effect) = (initial, nil) }

    var outcome: Outcome<Object> { Outcome(identifier: identifier, result: result) }
}

/// Records decoded before they are locked. Under the lock, only those that have changed since are decoded again.
private struct DecodedRecords<Object: BaseCodableStoreable> {
    private let known: [CacheKey: (data: Data, result: Result<Object, any Error>)]

    init(_ items: [(key: CacheKey, data: Data)], _ objects: RecordObjects<Object>) {
        known = Dictionary(
            zip(items, Codec<Object>().decode(items)).map { item, result in
                (item.key, (item.data, result.mapError { objects.noted($0) }))
            },
            uniquingKeysWith: { $1 }
        )
    }

    func object(_ key: CacheKey, _ data: Data, _ objects: RecordObjects<Object>) -> Result<Object, any Error> {
        if let known = known[key], known.data == data { return known.result }
        return Result { try objects.decode(data, key) }
    }
}
