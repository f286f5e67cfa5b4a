import Foundation

/// The items of a ``MemoryStorageEngine``, which engines on the same collection share.
final class MemoryCollection: Sendable {
    let items = Locked(MemoryItems())
    let signals = ChangeSignals()
    /// The order in which several collections are locked.
    let number: Int
    let name: String

    fileprivate init(number: Int, name: String) { (self.number, self.name) = (number, name) }
}

/// Collections in memory that can change together.
///
/// The locks of the collections guard their items. Who needs several locks takes them by their numbers.
final class MemoryCollections: StorageDatabase {
    private let collections = Locked<[ExactText: MemoryCollection]>([:])
    /// The references of all collections.
    private let links = Locked<[ReferenceLink]>([])

    /// Returns a collection, and creates it if necessary.
    func collection(named name: String) -> MemoryCollection {
        collections.withLock { collections in
            if let collection = collections[ExactText(name)] { return collection }
            let collection = MemoryCollection(number: collections.count, name: name)
            collections[ExactText(name)] = collection
            return collection
        }
    }

    func apply(_ parts: [StoragePart]) async throws -> [BatchOutcome] {
        let parts = try parts.map { part in
            guard let engine = part.engine as? MemoryStorageEngine, engine.database === self else {
                throw StorageError(.invalidArgument, "The engine is not on one of these collections.")
            }
            return Part(
                collection: engine.collection, batch: part.batch,
                origin: (part.batch.origin ?? engine.currentOrigin).shared, date: engine.now())
        }
        return try apply(parts)
    }

    /// A batch for a collection, whose origin is known.
    struct Part {
        let collection: MemoryCollection
        let batch: StorageBatch
        let origin: StorageOrigin
        let date: Date
    }

    /// Applies batches, and what follows from the removal of items that others name.
    func apply(_ parts: [Part]) throws -> [BatchOutcome] {
        let links = links.withLock { $0 }
        let cascade = ReferenceCascade(links)
        let removals = parts.filter {
            $0.batch.heedsReferences && cascade.follows($0.batch.operations, in: $0.collection.name)
        }
        let known = collections.withLock { $0 }
        let involved =
            removals.isEmpty
            ? Dictionary(parts.map { ($0.collection.number, $0.collection) }) { first, _ in first }
            : Dictionary(uniqueKeysWithValues: known.values.map { ($0.number, $0) })
        var items: [Int: MemoryItems] = [:]
        let result = Self.taking(involved.values.sorted { $0.number < $1.number }[...], into: &items) { items in
            guard parts.allSatisfy({ items[$0.collection.number]?.allows($0.batch) ?? false }) else {
                return Result<[BatchOutcome], any Error>.success(parts.map { _ in BatchOutcome(wasApplied: false) })
            }
            var cascade = removals.isEmpty ? cascade : ReferenceCascade(Self.indexed(links, known, items))
            // A refusal undoes everything. Otherwise a copy would make the first change copy all items.
            let before = links.contains { $0.reference.onRemoval == .refuse } && !removals.isEmpty ? items : nil
            var removed: [(part: Part, identifiers: [CacheKey: [ReferenceIdentifier?]])] = []
            for part in removals {
                let identifiers = items[part.collection.number]?.identifiers(part.batch.operations) {
                    cascade.identifiers(of: $0, in: part.collection.name)
                }
                removed.append((part, identifiers ?? [:]))
            }
            let outcomes = parts.map { part in
                let commit = items[part.collection.number]?.apply(part.batch, at: part.date, by: part.origin)
                return BatchOutcome(commit: commit ?? nil)
            }
            for (part, identifiers) in removed {
                let (name, core) = (part.collection.name, items[part.collection.number]?.core)
                let gone = identifiers.filter { core?.contains($0.key) != true }
                let written = cascade.identifiers(ofWrites: part.batch.operations, in: name)
                cascade.removed(gone.values, besides: written, from: name)
            }
            do {
                if try Self.finish(&cascade, known, &items, at: removals.first?.date ?? Date()) {
                    // A reader has to read the consequences, too.
                    return .success(parts.map { _ in BatchOutcome() })
                }
            } catch {
                if let before { items = before }
                return .failure(error)
            }
            return .success(outcomes)
        }
        let outcomes = try result.get()
        if outcomes.allSatisfy(\.wasApplied) { for collection in involved.values { collection.signals.send() } }
        return outcomes
    }

    /// Carries out what follows from the removal of items.
    ///
    /// - Returns: Whether anything was changed.
    private static func finish(
        _ cascade: inout ReferenceCascade, _ known: [ExactText: MemoryCollection], _ items: inout [Int: MemoryItems],
        at date: Date
    ) throws -> Bool {
        var isChanged = false
        let origin = StorageOrigin().shared
        while let step = cascade.next() {
            switch step {
            case .read(let name, let scan):
                guard let number = known[ExactText(name)]?.number, let searched = items[number] else {
                    try cascade.receive([], end: nil)
                    continue
                }
                var end: StoragePlace?
                var found: [StorageItem] = []
                for entry in try searched.items(of: scan) {
                    let item = StorageItem(
                        key: entry.entry.key, data: entry.entry.data, position: entry.entry.position,
                        sortKey: entry.sortKey)
                    if cascade.isWanted(item) { found.append(item) }
                    if found.count >= ReferenceCascade.partSize, scan.continued(after: item.place) != nil {
                        end = item.place
                        break
                    }
                }
                try cascade.receive(found, end: end)
            case .apply(let name, let operations):
                guard let number = known[ExactText(name)]?.number else { continue }
                items[number]?.apply(operations, dates: [:], at: date, by: origin)
                isChanged = true
            }
        }
        return isChanged
    }

    /// References with the indexes that find the items which have them.
    private static func indexed(
        _ links: [ReferenceLink], _ known: [ExactText: MemoryCollection], _ items: [Int: MemoryItems]
    ) -> [ReferenceLink] {
        links.map { link in
            var link = link
            if !link.reference.isList, let number = known[ExactText(link.source)]?.number {
                link.index = items[number]?.existingIndexes.filter { $0.isOver(link.reference.path) }
                    .min { !$0.isForText && $1.isForText }
            }
            return link
        }
    }

    // MARK: References

    /// Whether something can follow from operations on a collection.
    func follows(_ operations: [StorageOperation], in collection: String) -> Bool {
        let links = links.withLock { $0 }
        return !links.isEmpty && ReferenceCascade(links).follows(operations, in: collection)
    }

    /// The references of all collections; none if none of them is to some collections.
    func links(to targets: [String]) -> [ReferenceLink] {
        let links = links.withLock { $0 }.concerning(targets)
        if links.isEmpty { return [] }
        let known = collections.withLock { $0 }
        var items: [Int: MemoryItems] = [:]
        return Self.taking(known.values.sorted { $0.number < $1.number }[...], into: &items) {
            Self.indexed(links, known, $0)
        }
    }

    /// The references of a collection.
    func references(of collection: String) -> [StorageReference] {
        links.withLock { $0.filter { $0.source.hasSameBytes(as: collection) }.map(\.reference) }
    }

    /// Replaces the references of a collection.
    func declare(_ references: [StorageReference], of collection: String) {
        links.withLock { links in
            links.removeAll { $0.source.hasSameBytes(as: collection) }
            links += references.map { ReferenceLink(source: collection, reference: $0, index: nil) }
        }
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
