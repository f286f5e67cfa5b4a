package import Foundation

/// A reference with the collection whose items have it.
package struct ReferenceLink: Hashable, Sendable {
    /// The name of the collection.
    package var source: String
    package var reference: StorageReference
    /// The index over the member that a search can use.
    package var index: StorageIndex?

    package init(source: String, reference: StorageReference, index: StorageIndex?) {
        (self.source, self.reference, self.index) = (source, reference, index)
    }
}

/// The references of all collections of a database, for a wrapper that carries out itself what follows from a removal.
package protocol ReferenceLinks: StorageReferences {
    /// The references of all collections that exist, with their indexes.
    ///
    /// - Parameter targets: The names of collections.
    /// - Returns: Nothing if there is no reference to any of them.
    func fetchLinks(to targets: [String]) async throws -> [ReferenceLink]
}

extension [ReferenceLink] {
    /// The references, unless there is none to some collections.
    package func concerning(_ targets: [String]) -> [ReferenceLink] {
        contains { link in targets.contains { $0.hasSameBytes(as: link.reference.target) } } ? self : []
    }
}

/// What follows from the removal of items that others name: which items to read, and what to do with those that name a
/// removed one.
///
/// The engine carries it out within the transaction of the removal:
///
/// 1. It calls ``removed(_:from:)`` with the identifiers of the items that its operations have removed.
/// 2. It takes one ``Step`` after the other from ``next()``. It reads what a step asks for, and calls
///    ``receive(_:end:)``, or applies operations.
/// 3. Items that are removed by a step can be named by others. What follows from them comes first, so that the memory
///    that is needed follows the depth of the references, not the number of items.
/// 4. A reference without an index is looked up by reading all items of its collection. That waits until nothing else
///    is left, or very many items are removed, so that one pass is enough for all of them.
/// 5. Whether removed items are still named by a reference that refuses is looked up at the end, when all others are
///    removed that the transaction removes.
package struct ReferenceCascade: Sendable {
    package enum Step: Sendable {
        /// Read the items of a collection in a scan for which ``ReferenceCascade/isWanted(_:)`` returns `true`. Pass
        /// them to ``ReferenceCascade/receive(_:end:)``, at most ``ReferenceCascade/partSize`` at a time if the scan
        /// can be continued.
        case read(collection: String, StorageScan)
        case apply(collection: String, [StorageOperation])
    }

    /// The number of items that are changed at a time.
    package static let partSize = 500

    /// The numbers of identifiers that are searched together, with an index and without.
    private static let (indexedSize, unindexedSize) = (1_000, 50_000)

    /// Identifiers of removed items, and what is left to read to find the items that name them.
    private struct Search: Sendable {
        let link: ReferenceLink
        let ids: Set<ReferenceIdentifier>
        /// The next one is the last.
        var scans: [StorageScan]
        private let member: ReferenceMember

        init(_ link: ReferenceLink, _ ids: Set<ReferenceIdentifier>) {
            (self.link, self.ids) = (link, ids)
            member = ReferenceMember(link.reference)
            guard let index = link.index else {
                scans = [.all(after: nil)]
                return
            }
            let keys = StorageSortKeyRanges.union(ids.map { StorageSortKeyRanges($0.sortKey) })
            let use = IndexUse(of: index, keys)
            scans = use.others + use.candidates
        }

        /// Whether an item names one of the removed items.
        func isWanted(_ item: Data) -> Bool { member.identifiers(in: item).contains(where: ids.contains) }

        /// The item without the identifiers, `nil` if it can't be written in this way.
        func cleared(_ item: Data) -> Data? { member.clearing(ids, in: item) }
    }

    /// Removed items of a collection that wait for the search by its reference of a number.
    private struct Waiting: Sendable {
        let target: ExactText
        let number: Int
        var ids: Set<ReferenceIdentifier> = []
    }

    /// The references to each collection.
    private let links: [ExactText: [ReferenceLink]]
    private let members: [ExactText: [ReferenceMember]]
    /// The next one is the last.
    private var searches: [Search] = []
    private var refusals: [Search] = []
    /// The identifiers of removed items that are to be looked up without an index.
    private var waiting: [Waiting] = []
    private var operations: (collection: String, [StorageOperation])?
    /// The identifiers of the items that the operations remove, if others can name them.
    private var removed: [[ReferenceIdentifier?]] = []

    /// - Parameter links: All references of the database.
    package init(_ links: [ReferenceLink]) {
        self.links = Dictionary(
            grouping: links.filter { $0.reference.onRemoval != .keep }, by: { ExactText($0.reference.target) })
        members = self.links.mapValues { $0.map { ReferenceMember($0.reference) } }
    }

    /// Whether anything follows from the removal of items of a collection.
    package func concerns(_ collection: String) -> Bool { links[ExactText(collection)] != nil }

    /// Whether something can follow from operations on a collection.
    package func follows(_ operations: [StorageOperation], in collection: String) -> Bool {
        operations.contains(where: \.isRemoval) && concerns(collection)
    }

    /// The identifiers by which references can name an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - collection: The collection.
    package func identifiers(of item: Data, in collection: String) -> [ReferenceIdentifier?] {
        (members[ExactText(collection)] ?? []).map { $0.identifier(ofRemoved: item) }
    }

    /// The identifiers of the items that operations write.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - collection: The collection.
    package func identifiers(
        ofWrites operations: [StorageOperation], in collection: String
    ) -> [[ReferenceIdentifier?]] {
        guard let members = members[ExactText(collection)] else { return [] }
        var written: [CacheKey: Data] = [:]
        for operation in operations {
            switch operation {
            case .write(let key, let data): written[key] = data
            case .remove(let key): written[key] = nil
            case .removeAll: written = [:]
            }
        }
        return written.values.map { item in members.map { $0.identifier(ofTarget: item) } }
    }

    /// Adds items that were removed and that don't exist any more.
    ///
    /// - Parameters:
    ///   - identifiers: The ``identifiers(of:in:)`` of the items, as they were stored.
    ///   - written: The ``identifiers(ofWrites:in:)`` of the same batch. An item that gets another key still exists.
    ///   - collection: Their collection.
    package mutating func removed(
        _ identifiers: some Collection<[ReferenceIdentifier?]>, besides written: [[ReferenceIdentifier?]],
        from collection: String
    ) {
        for (number, link) in (links[ExactText(collection)] ?? []).enumerated() {
            let ids = Set(identifiers.compactMap { $0[number] }).subtracting(written.compactMap { $0[number] })
            if ids.isEmpty { continue }
            if link.index != nil {
                search(ids, by: link, Self.indexedSize)
                continue
            }
            let target = ExactText(collection)
            let place = waiting.firstIndex { $0.target == target && $0.number == number } ?? waiting.endIndex
            if place == waiting.endIndex { waiting.append(Waiting(target: target, number: number)) }
            waiting[place].ids.formUnion(ids)
            if waiting[place].ids.count >= Self.unindexedSize { searchWaiting(at: place) }
        }
    }

    private mutating func search(_ ids: Set<ReferenceIdentifier>, by link: ReferenceLink, _ size: Int) {
        let ids = Array(ids)
        for start in stride(from: 0, to: ids.count, by: size) {
            let search = Search(link, Set(ids[start..<min(start + size, ids.count)]))
            if link.reference.onRemoval == .refuse { refusals.append(search) } else { searches.append(search) }
        }
    }

    private mutating func searchWaiting(at place: Int) {
        let removed = waiting.remove(at: place)
        if let link = link(of: removed) { search(removed.ids, by: link, Self.unindexedSize) }
    }

    private func link(of removed: Waiting) -> ReferenceLink? { links[removed.target]?[removed.number] }

    /// Returns what to do next, `nil` if nothing is left.
    ///
    /// - Parameter refusing: Whether all removals of the transaction are known, so that it can be looked up whether
    ///   references refuse them.
    package mutating func next(refusing: Bool = true) -> Step? {
        if let (collection, operations) = operations {
            self.operations = nil
            return .apply(collection: collection, operations)
        }
        if !removed.isEmpty, let source = searches.last?.link.source {
            let identifiers = removed
            removed = []
            self.removed(identifiers, besides: [], from: source)
        }
        while true {
            while let search = searches.last {
                if let scan = search.scans.last { return .read(collection: search.link.source, scan) }
                searches.removeLast()
            }
            let place = waiting.firstIndex { link(of: $0)?.reference.onRemoval != .refuse }
            guard let place = place ?? (refusing ? waiting.indices.first : nil) else { break }
            searchWaiting(at: place)
        }
        while refusing, let refusal = refusals.last {
            if let scan = refusal.scans.last { return .read(collection: refusal.link.source, scan) }
            refusals.removeLast()
        }
        return nil
    }

    /// Whether an item of the current scan names a removed one.
    package func isWanted(_ item: StorageItem) -> Bool {
        (searches.last ?? refusals.last)?.isWanted(item.data) ?? false
    }

    /// Takes the items of the current scan that are wanted.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - end: The place after which the scan is continued, `nil` if it is complete.
    /// - Throws: ``StorageError/Code/referenced`` if one of them refuses the removal.
    package mutating func receive(_ items: [StorageItem], end: StoragePlace?) throws {
        guard let search = searches.last else {
            if let item = items.first, let refusal = refusals.last { throw StorageError.referenced(refusal.link, item) }
            refusals[refusals.count - 1].scans.removeLast()
            return
        }
        let scan = searches[searches.count - 1].scans.removeLast()
        if let rest = end.flatMap(scan.continued) { searches[searches.count - 1].scans.append(rest) }
        var operations: [StorageOperation] = []
        for item in items {
            if search.link.reference.onRemoval == .remove {
                operations.append(.remove(key: item.key))
                if concerns(search.link.source) { removed.append(identifiers(of: item.data, in: search.link.source)) }
            } else if let data = search.cleared(item.data) {
                operations.append(.write(key: item.key, data: data))
            }
        }
        if !operations.isEmpty { self.operations = (search.link.source, operations) }
    }
}

extension StorageError {
    fileprivate static func referenced(_ link: ReferenceLink, _ item: StorageItem) -> StorageError {
        let collection = link.source.isEmpty ? "the unnamed collection" : "the collection \"\(link.source)\""
        return StorageError(
            .referenced,
            """
            An item can't be removed, because the item \(item.key) of \(collection) names it in its member \
            "\(link.reference.path)". Remove or change that item first, or in the same batch.
            """)
    }
}
