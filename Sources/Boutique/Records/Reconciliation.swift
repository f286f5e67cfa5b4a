import Bodega
import Foundation

/// What has to be found out after a write failed.
///
/// Our engines change nothing when they fail. Engines that others wrote may have applied a part of the batch, and behind
/// a network even a batch that was applied whole can come back as an error. A failed operation must change nothing, so
/// the records concerned are read again, and what was applied is undone.
struct Reconciliation: Sendable {
    /// What was to be written.
    let operations: [StorageOperation]
    /// What was stored before under keys whose records could not be decoded.
    let keptAside: [CacheKey: Data]

    init<Item>(_ prepared: [PreparedOperation<Item>]) {
        operations = prepared.flatMap(\.records)
        keptAside = prepared.reduce(into: [:]) { $0.merge($1.keptAside) { first, _ in first } }
    }

    /// Whether all items were to be removed.
    var concernsAllItems: Bool {
        operations.contains { if case .removeAll = $0 { true } else { false } }
    }

    /// The keys that were to be written or removed, each once, in order.
    var keys: [CacheKey] {
        var seen: Set<CacheKey> = []
        return operations.compactMap(\.key).filter { seen.insert($0).inserted }
    }
}

extension RecordStorage {

    /// Undoes what was applied of a batch that failed.
    ///
    /// - Parameters:
    ///   - failure: The batch.
    ///   - expected: The items that should be stored under the keys concerned, or, if all items were to be removed, all
    ///     items; in order.
    /// - Throws: If it could not be found out or undone.
    func undo(_ failure: Reconciliation, expected: [(key: CacheKey, item: Item)]) async throws {
        let keys = failure.concernsAllItems ? Array(Set(expected.map(\.key) + failure.keys)) : failure.keys
        let stored = Dictionary(try await engine.fetch(keys: keys).map { ($0.key, $0.data) }) { $1 }
        let expectedKeys = Set(expected.map(\.key)).union(failure.keptAside.keys)
        guard isChanged(by: failure, stored, expectedKeys) else { return }
        var undoing = failure.keptAside.map { StorageOperation.write(key: $0, data: $1) }
        for (key, item) in expected {
            undoing.append(.write(key: key, data: try coding.encode(item, for: key)))
        }
        undoing += failure.keys.filter { !expectedKeys.contains($0) }.map { .remove(key: $0) }
        try await engine.apply(undoing)
    }

    private func isChanged(
        by failure: Reconciliation,
        _ stored: [CacheKey: Data],
        _ expected: Set<CacheKey>
    ) -> Bool {
        if failure.concernsAllItems, expected.contains(where: { stored[$0] == nil }) { return true }
        return failure.operations.contains { operation in
            switch operation {
            case .write(let key, let data): stored[key] == data
            case .remove(let key): stored[key] == nil && expected.contains(key)
            case .removeAll: false
            }
        }
    }
}

extension StorageOperation {
    fileprivate var key: CacheKey? {
        switch self {
        case .write(let key, _), .remove(let key): key
        case .removeAll: nil
        }
    }
}
