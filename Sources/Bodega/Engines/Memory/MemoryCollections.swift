/// The items of a ``MemoryStorageEngine``, which engines on the same collection share.
final class MemoryCollection: Sendable {
    let items = Locked(MemoryItems())
    let signals = ChangeSignals()
    /// The order in which several collections are locked.
    let number: Int

    fileprivate init(number: Int) { self.number = number }
}

/// Collections in memory that can change together.
///
/// The locks of the collections guard their items. Who needs several locks takes them by their numbers.
final class MemoryCollections: StorageDatabase {
    private let collections = Locked<[ExactText: MemoryCollection]>([:])

    /// Returns a collection, and creates it if necessary.
    func collection(named name: String) -> MemoryCollection {
        collections.withLock { collections in
            if let collection = collections[ExactText(name)] { return collection }
            let collection = MemoryCollection(number: collections.count)
            collections[ExactText(name)] = collection
            return collection
        }
    }

    func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        let parts = try parts.map { part in
            guard let engine = part.engine as? MemoryStorageEngine, engine.database === self else {
                throw StorageError(.invalidArgument, "The engine is not on one of these collections.")
            }
            return (engine: engine, batch: part.batch, date: engine.now())
        }
        let collections = Dictionary(parts.map { ($0.engine.collection.number, $0.engine.collection) }) { first, _ in
            first
        }
        var items: [Int: MemoryItems] = [:]
        let outcomes = Self.taking(collections.values.sorted { $0.number < $1.number }[...], into: &items) { items in
            guard parts.allSatisfy({ items[$0.engine.collection.number]?.allows($0.batch) ?? false }) else {
                return parts.map { _ in BatchOutcome(wasApplied: false) }
            }
            return parts.map { engine, batch, date in
                let origin = (batch.origin ?? engine.currentOrigin).shared
                let commit = items[engine.collection.number]?.apply(batch, at: date, by: origin)
                return BatchOutcome(commit: commit ?? nil)
            }
        }
        if outcomes.allSatisfy(\.wasApplied) { for collection in collections.values { collection.signals.send() } }
        return outcomes
    }

    func atOneMoment(_ body: @Sendable () async throws -> Void) async throws {
        let all = collections.withLock { $0.values.sorted { $0.number < $1.number } }
        var items: [Int: MemoryItems] = [:]
        let copies = Self.taking(all[...], into: &items) { items in
            // So that a cursor is one of the collection's own log.
            for number in items.keys { _ = items[number]?.startedHistory() }
            return items
        }
        try await StorageMoment.run(of: self, copies, body)
    }

    /// The items of a collection at the moment of the task's reads, see ``StorageMoment``.
    func itemsAtMoment(_ number: Int) -> MemoryItems? {
        (StorageMoment.state(of: self) as? [Int: MemoryItems])?[number]
    }

    /// Runs a closure with the items of locked collections by their numbers. They are moved, because a change of a copy
    /// would copy all items.
    private static func taking<Result>(
        _ collections: ArraySlice<MemoryCollection>, into taken: inout [Int: MemoryItems],
        _ body: (inout [Int: MemoryItems]) -> Result
    ) -> Result {
        guard let collection = collections.first else { return body(&taken) }
        return collection.items.withLock { items in
            taken[collection.number] = items
            items = MemoryItems()
            defer { if let changed = taken.removeValue(forKey: collection.number) { items = changed } }
            return taking(collections.dropFirst(), into: &taken, body)
        }
    }
}
