import Bodega
import Foundation

/// What follows from the removals in a user's batches, by the references of the local database.
///
/// An engine does that by itself within a transaction. Here it is found before, because each item that it changes needs
/// a change in the outbox: otherwise the device would differ from all others if the removal is overruled, or if the
/// remote database does not know the references. So the engine does nothing more, unless a collection is concerned that
/// is not synchronized.
///
/// An item that comes to name a removed one after it was read here counts as one that was written after the removal.
struct UserRemoval {
    /// What follows, in the order in which it does, of items that the user's batches don't change themselves.
    private(set) var changes: [(item: SyncItemID, data: Data?)] = []
    /// The items from whose removal the others follow.
    private(set) var causes: [SyncItemID: SyncItemID] = [:]

    private let collections: SyncedCollections
    private let links: [ReferenceLink]
    /// Whether all references are those of collections that are synchronized.
    private let isWhole: Bool
    /// The items as they will be.
    private var overlay: [SyncItemID: Data?] = [:]
    /// The items of the last step.
    private var found: [CacheKey: Data] = [:]
    /// The items that are removed or changed, as they were read.
    private var read: [SyncItemID: Data?] = [:]
    /// The removed items by the identifiers with which others name them.
    private var removed: [Identifier: SyncItemID] = [:]

    private struct Identifier: Hashable {
        let collection: ExactText
        let path: ExactText
        let id: ReferenceIdentifier

        init(_ reference: StorageReference, _ id: ReferenceIdentifier) {
            (collection, path, self.id) = (ExactText(reference.target), ExactText(reference.targetPath), id)
        }
    }

    /// Finds what follows.
    ///
    /// - Parameters:
    ///   - parts: The user's batches. What follows for an item that they change is added to them.
    ///   - collections: The collections that the program has opened. Others are opened if they are concerned.
    ///   - isNoted: Returns whether a collection that the program has not opened is synchronized.
    /// - Returns: `nil` if no reference is to an item that they remove.
    /// - Throws: ``StorageError/Code/referenced`` if an item refuses the removal.
    init?(
        of parts: inout [SyncWork.Part], in collections: SyncedCollections,
        where isNoted: (_ collection: String) async throws -> Bool
    ) async throws {
        let changes = parts.flatMap(\.changes)
        let removed = changes.filter { $0.data == nil }.map(\.item)
        guard let first = removed.first,
            let database = try collections.engine(first.collection).references as? any ReferenceLinks
        else { return nil }
        let all = try await database.fetchLinks(to: Set(removed.map(\.collection)).sorted())
        if all.isEmpty { return nil }
        let acting = all.filter { $0.reference.onRemoval != .keep }
        var unsynchronized: Set<ExactText> = []
        for name in Set(acting.map(\.source)) where collections.localEngine(name) == nil {
            if try await isNoted(name) {
                try await collections.openOther(name)
            } else {
                unsynchronized.insert(ExactText(name))
            }
        }
        self.collections = collections
        links = acting.filter { !unsynchronized.contains(ExactText($0.source)) }
        isWhole = unsynchronized.isEmpty
        for (item, data) in changes { overlay[item] = data }
        var cascade = ReferenceCascade(links)
        for (name, items) in removed.byCollection where cascade.concerns(name) {
            let stored = try await collections.engine(name).fetch(
                FetchRequest(items.map(\.key), options: ReadOptions(needsOriginal: true)))
            // Found again as they are when the change is written.
            for item in items { read[item] = .some(nil) }
            for stored in stored.value {
                let item = SyncItemID(collection: name, key: stored.key)
                read[item] = stored.data
                note(item, stored.data)
            }
            let operations = changes.filter { $0.item.collection.hasSameBytes(as: name) }.compactMap { item, data in
                data.map { StorageOperation.write(key: item.key, data: $0) }
            }
            cascade.removed(
                stored.value.map { cascade.identifiers(of: $0.data, in: name) },
                besides: cascade.identifiers(ofWrites: operations, in: name), from: name)
        }
        while let step = cascade.next() {
            switch step {
            case .read(let name, let scan):
                let items = try await items(of: name, scan, cascade)
                found = Dictionary(items.map { ($0.key, $0.data) }, uniquingKeysWith: { first, _ in first })
                try cascade.receive(items, end: nil)
            case .apply(let name, let operations): apply(operations, to: name)
            }
        }
        finish(&parts)
    }

    /// Notes an item that is removed.
    private mutating func note(_ item: SyncItemID, _ data: Data) {
        for link in links where link.reference.target.hasSameBytes(as: item.collection) {
            guard let id = ReferenceMember(link.reference).identifier(ofTarget: data) else { continue }
            removed[Identifier(link.reference, id)] = item
        }
    }

    /// The items of a scan that the cascade wants, as they will be.
    private func items(
        of name: String, _ scan: StorageScan, _ cascade: ReferenceCascade
    ) async throws -> [StorageItem] {
        let changed = overlay.filter { $0.key.collection.hasSameBytes(as: name) }
        let found = Locked<[StorageItem]>([])
        let request = ScanRequest([scan], options: ReadOptions(needsOriginal: true))
        _ = try await collections.engine(name).scan(request) {
            { _, item in
                let isChanged = changed[SyncItemID(collection: name, key: item.key)] != nil
                if !isChanged, cascade.isWanted(item) { found.withLock { $0.append(item) } }
                return true
            }
        }
        let own = changed.compactMap { item, data in data.map { StorageItem(key: item.key, data: $0) } }
        return found.withLock { $0 } + own.filter(cascade.isWanted)
    }

    private mutating func apply(_ operations: [StorageOperation], to name: String) {
        for operation in operations {
            guard let key = operation.key else { continue }
            let item = SyncItemID(collection: name, key: key)
            guard let before = found[key] else { continue }
            if overlay[item] == nil { read[item] = before }
            if causes[item] == nil { causes[item] = cause(of: before, in: name) }
            overlay[item] = .some(operation.data)
            changes.append((item, operation.data))
            if operation.data == nil { note(item, before) }
        }
    }

    /// The removed item that an item names.
    private func cause(of data: Data, in name: String) -> SyncItemID? {
        for link in links where link.source.hasSameBytes(as: name) {
            for id in ReferenceMember(link.reference).identifiers(in: data) {
                if let item = removed[Identifier(link.reference, id)] { return item }
            }
        }
        return nil
    }

    /// Adds to the user's batches what concerns their items, and keeps the last change of each of the others.
    private mutating func finish(_ parts: inout [SyncWork.Part]) {
        let own = Set(parts.flatMap { part in part.changes.map(\.item) })
        for (item, data) in changes where own.contains(item) {
            guard
                let part = parts.lastIndex(where: { part in
                    part.collection.hasSameBytes(as: item.collection) && part.changes.contains { $0.item == item }
                })
            else { continue }
            parts[part].batch.operations.append(
                data.map { .write(key: item.key, data: $0) } ?? .remove(key: item.key))
        }
        var known: Set<SyncItemID> = own
        changes = changes.compactMap { item, _ in
            known.insert(item).inserted ? (item, overlay[item] ?? nil) : nil
        }
        for part in parts.indices { parts[part].batch.heedsReferences = !isWhole }
    }

    /// The item of the user's batches from whose removal another one follows.
    func root(of item: SyncItemID) -> SyncItemID {
        var (root, known): (SyncItemID, Set<SyncItemID>) = (item, [])
        while let cause = causes[root], known.insert(root).inserted { root = cause }
        return root
    }

    /// Whether a later reading has found the items as they were read for this.
    func isBased(on reading: OutboxStorage.Reading) -> Bool {
        read.allSatisfy { item, data in reading.items[item] == data }
    }

    /// The batches for the items that the user's own don't change.
    ///
    /// They have an origin of their own, because the user's store does not know what they change. It is one of changes
    /// that are shown together.
    func batches(in collections: SyncedCollections) throws -> [(engine: any StorageBackend, batch: StorageBatch)] {
        let origin = StorageOrigin().shared
        return try changes.map(\.item).byCollection.map { name, items in
            var batch = StorageBatch(
                items.map { item in
                    (overlay[item] ?? nil).map { .write(key: item.key, data: $0) } ?? .remove(key: item.key)
                },
                if: items.map { StorageCondition(key: $0.key, data: read[$0] ?? nil) }, origin: origin)
            batch.heedsReferences = !isWhole
            return (try collections.engine(name), batch)
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

    fileprivate var data: Data? { if case .write(_, let data) = self { data } else { nil } }
}
