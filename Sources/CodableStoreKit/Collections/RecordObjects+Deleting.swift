import Bodega
import Foundation

extension RecordObjects {

    func delete(_ identifiers: [Object.ID]) -> [Outcome<Object>] {
        core.deliveries.begin()
        defer { core.deliveries.end() }
        let deletions: [Deletion<Object>] = identifiers.map { identifier in
            Deletion(identifier, Result { try key(of: identifier) })
        }
        do {
            try carryOut(deletions)
        } catch {
            let isLocked = (error as? StorageError)?.code == .locked
            for deletion in deletions {
                if deletions.count == 1 || isLocked {
                    deletion.result = .failure(error)
                } else {
                    do { try carryOut([deletion]) } catch { deletion.result = .failure(error) }
                }
            }
        }
        return deletions.map { $0.outcome }
    }

    func deleteAll() throws -> [Outcome<Object>] {
        core.deliveries.begin()
        defer { core.deliveries.end() }
        let items = try records.items()
        // Where there is nothing, nothing need be locked or made.
        if items.isEmpty { return [] }
        // Here and below: this thread waits while another one carries out what it has asked for.
        nonisolated(unsafe) let decoded = DecodedRecords(items, self)
        nonisolated(unsafe) var outcomes: [Outcome<Object>] = []
        nonisolated(unsafe) var removed: [SQLiteEffect] = []
        nonisolated(unsafe) let this = self
        try records.update { contents in
            (outcomes, removed) = ([], [])
            var indices: [CacheKey: Int] = [:]
            return try contents.allItems().compactMap { key, data in
                // What can't be decoded can't be told, so it stays.
                guard case .success(let object) = decoded.object(key, data, this) else { return nil }
                let outcome = Outcome(identifier: object.codableStoreID, result: .success(object))
                let own = this.ownKey(of: object) ?? key
                if let index = indices[own] {
                    // Of several records of one object, its own counts.
                    if own == key { (outcomes[index], removed[index]) = (outcome, .removed(key, data)) }
                } else {
                    indices[own] = outcomes.count
                    outcomes.append(outcome)
                    removed.append(.removed(key, data))
                }
                return .remove(key: key)
            }
        } committed: {
            for (outcome, effect) in zip(outcomes, removed) { this.tell(outcome, effect) }
        }
        return outcomes
    }

    /// Deletes objects as one batch.
    private func carryOut(_ deletions: [Deletion<Object>]) throws {
        let keys = deletions.compactMap(\.key)
        nonisolated(unsafe) let strays = try strays()
        let found = try keys.flatMap { key in [key] + (strays[key]?.keys ?? []) }
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
                // The object's own record counts; others of the same object go with it.
                let records = try ([key] + (strays[key]?.keys ?? [])).compactMap { key in
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
                if let effect = deletion.effect { this.tell(deletion.outcome, effect) }
            }
        }
    }

    private func tell(_ outcome: Outcome<Object>, _ effect: SQLiteEffect) {
        if case .success(let object) = outcome.result { observers.enqueue(.deleted(object), effect) }
    }
}

/// One object of a deletion.
private final class Deletion<Object: BaseCodableStoreable> {
    let identifier: Object.ID
    let key: CacheKey?
    var result: Result<Object, any Error>
    /// What is removed, if there is something.
    var effect: SQLiteEffect?
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

    /// Forgets what an attempt has come to.
    func begin() { (result, effect) = (initial, nil) }

    var outcome: Outcome<Object> { Outcome(identifier: identifier, result: result) }
}

/// Records that were decoded before they are locked, so that no object is decoded by whoever holds the lock, unless it
/// has changed since.
private struct DecodedRecords<Object: BaseCodableStoreable> {
    private let known: [CacheKey: (data: Data, result: Result<Object, any Error>)]

    init(_ items: [(key: CacheKey, data: Data)], _ objects: RecordObjects<Object>) {
        known = Dictionary(
            zip(items, Codec<Object>().decode(items)).map { item, result in
                (item.key, (item.data, result.mapError { objects.placed($0) }))
            },
            uniquingKeysWith: { $1 }
        )
    }

    func object(_ key: CacheKey, _ data: Data, _ objects: RecordObjects<Object>) -> Result<Object, any Error> {
        if let known = known[key], known.data == data { return known.result }
        return Result { try objects.decode(data, key) }
    }
}
