/// How items of another collection are related to the objects of a query.
///
/// Related items form groups, each of which has a key. A reference to an item is a group of at most one, under the
/// item's key. The items that refer to an object are a group under the object's key. So an object has the items of some
/// groups, in the order of the groups, and in each group in the order of insertion.
package struct Relation<Object, Target: Codable>: Sendable {
    private enum Direction {
        /// Objects refer to the items.
        case forward(ReferenceProperty<Object>)
        /// The items refer to objects.
        case backward(ReferenceProperty<Target>)
    }

    /// The storage of the items.
    package let targets: ObjectStorage<Target>
    private let direction: Direction

    /// The relation of objects to those items to which a property of theirs refers.
    init(_ property: ReferenceProperty<Object>, to targets: ObjectStorage<Target>) {
        (self.targets, direction) = (targets, .forward(property))
    }

    /// The relation of objects to those items that refer to them.
    init(_ property: ReferenceProperty<Target>, from sources: ObjectStorage<Target>) {
        (targets, direction) = (sources, .backward(property))
    }

    /// Whether a group can have more than one item, so that the order of items matters.
    package var needsPositions: Bool {
        if case .backward = direction { true } else { false }
    }

    /// The keys of the groups whose items are related to an object, in order.
    package func groups(of object: Object, _ key: CacheKey) -> [CacheKey] {
        switch direction {
        case .forward(let property): property.keys(of: object)
        case .backward: [key]
        }
    }

    /// The keys of the groups to which an item belongs.
    fileprivate func groups(ofItem item: Target, _ key: CacheKey) -> [CacheKey] {
        switch direction {
        case .forward: [key]
        case .backward(let property): property.keys(of: item)
        }
    }

    // MARK: Reading

    /// Reads all items of the groups of some objects, with one request for items.
    ///
    /// - Parameters:
    ///   - objects: The objects, with their keys.
    ///   - wanted: The groups that are wanted; `nil` for all.
    ///   - omitting: Whether items that can't be decoded or read are left out.
    package func items(
        of objects: [(key: CacheKey, object: Object)], among wanted: Set<CacheKey>? = nil,
        omittingUndecodable omitting: Bool
    ) async throws -> RelatedItems<Target> {
        let reading = RelatedReading(self, omitting)
        switch direction {
        case .forward(let property):
            var keys: Set<CacheKey> = []
            var new: [CacheKey] = []
            for (_, object) in objects {
                for key in property.keys(of: object) where wanted?.contains(key) != false {
                    if keys.insert(key).inserted { new.append(key) }
                }
            }
            try await reading.fetch(new)
        case .backward(let property):
            if objects.isEmpty { break }
            try await targets.learnFromStoredObjects()
            let known = objects.map { ($0.key, ReferencedItems.identifier(of: $0.object)) }
            try await reading.scan(ReferencedItems(known, for: property), property)
        }
        return reading.items
    }

    /// Reads items.
    ///
    /// - Parameter keys: Their keys, each once.
    package func items(
        under keys: [CacheKey], omittingUndecodable omitting: Bool
    ) async throws -> RelatedItems<Target> {
        let reading = RelatedReading(self, omitting)
        try await reading.fetch(keys)
        return reading.items
    }
}

/// A read of related items.
///
/// @unchecked because an engine passes on items one at a time, and they are taken after the last one.
private final class RelatedReading<Object, Target: Codable>: @unchecked Sendable {
    private let relation: Relation<Object, Target>
    private let isOmitting: Bool
    private let reader: StorageReader
    /// The items that were read.
    private(set) var items = RelatedItems<Target>()
    /// Which items a scan looks for.
    private var wanted: (groups: Set<CacheKey>, condition: QueryCondition)?
    /// The records that are not decoded yet.
    private var waiting: [StorageItem] = []
    private var waitingSize = 0

    private static var maximumSize: Int { 1 << 20 }
    private static var maximumCount: Int { 4_096 }

    init(_ relation: Relation<Object, Target>, _ isOmitting: Bool) {
        (self.relation, self.isOmitting) = (relation, isOmitting)
        // A cache would answer from another moment.
        let options = ReadOptions(omitsUnreadable: isOmitting, needsOriginal: StorageMoment.isCurrent)
        reader = StorageReader(relation.targets.storage, options: options)
    }

    private var coder: any ObjectCoder { relation.targets.coder }

    /// Reads items under keys.
    func fetch(_ keys: [CacheKey]) async throws {
        if keys.isEmpty { return }
        waiting =
            relation.needsPositions
            ? try await reader.fetchPlaced(keys: keys, index: nil) : try await reader.fetch(keys: keys)
        try finish()
    }

    /// Reads the items that refer to others.
    func scan(_ referenced: ReferencedItems, _ property: ReferenceProperty<Target>) async throws {
        let json = coder as? JSONObjectCoder
        let condition = property.condition(referenced, for: json, json?.trusts.trusted(Target.queryIndexes) ?? [])
        let query = StorageQuery<StorageItem>(condition: condition, order: []) { _, _ in nil }
        let plan = try await query.planByOneIndex(on: reader)
        // What an index has found need not be looked at before it is decoded.
        let isOfAll = plan.scans.contains { if case .all = $0 { true } else { false } }
        wanted = (referenced.keys, isOfAll ? condition : .opaque)
        try await reader.scan(plan.scans, isShort: referenced.keys.count <= 256, begin)
        try finish()
    }

    @Sendable private func begin() -> StorageReceiver {
        (items, waiting, waitingSize) = (RelatedItems(), [], 0)
        return receive
    }

    @Sendable private func receive(_ scan: Int, _ entry: StorageItem) throws -> Bool {
        guard let wanted else { return false }
        if wanted.condition.excludes(entry) { return true }
        waiting.append(entry)
        waitingSize += entry.data.count
        // After the read, so that it ends soon, unless they would take much memory.
        if waitingSize >= Self.maximumSize || waiting.count >= Self.maximumCount { try decode() }
        return true
    }

    private func finish() throws {
        try decode()
        items.sort()
        items.undecodable += reader.unreadable
        items.isCopy = reader.sources.contains(.copy)
    }

    /// Decodes the records that wait, together, which takes less time than one by one.
    private func decode() throws {
        let records = waiting.map { (key: $0.key, data: $0.data) }
        var failure: StorageError?
        coder.decode(Target.self, fromEach: records[...]) { index, object in
            let groups = groups(of: object, waiting[index].key)
            items.add(object, RelatedEntry(waiting[index], groups: groups))
        } failure: { _, error in
            if !isOmitting { failure = failure ?? error }
            if items.undecodable.count < 1_000 { items.undecodable.append(error) }
        }
        waiting.removeAll(keepingCapacity: true)
        waitingSize = 0
        if let failure { throw failure }
    }

    /// The groups that are wanted and to which an item belongs, each once.
    private func groups(of item: Target, _ key: CacheKey) -> [CacheKey] {
        let groups = relation.groups(ofItem: item, key)
        guard let wanted = wanted?.groups else { return groups.count < 2 ? groups : Array(Set(groups)) }
        if groups.count == 1 { return wanted.contains(groups[0]) ? groups : [] }
        return Array(wanted.intersection(groups))
    }
}
