import Bodega

/// Reads the rows of a window with related items.
///
/// The objects are those of a ``QueryReader``. Their related items are kept by the groups of the `Relation`: a change
/// of a related item reads that item, a change of an object reads the groups that it has and that are not kept.
struct RelatedReader<Object: StorableItem, Related: RelatedValue & StorableItem>: WindowReader
where Related.Target: StorableItem {

    /// What a window with related items has read.
    struct Contents: WindowContentsValue {
        fileprivate var objects: WindowContents<Object>
        fileprivate var related = RelatedItems<Related.Target>()
        /// The groups whose items are kept: those of all rows.
        fileprivate var groups: Set<CacheKey> = []
        /// The errors of related items that could not be read.
        fileprivate var errors: [CacheKey: StorageError] = [:]
        /// The end of the log of the related items; `nil` if there is none.
        fileprivate var cursor: StorageCursor?
        fileprivate(set) var shown: [QueryRow<RelatedRow<Object, Related>>] = []

        var shownCount: Int { shown.count }
        func shownRow(at index: Int) -> QueryRow<RelatedRow<Object, Related>> { shown[index] }
        func shownIndex(of key: CacheKey) -> Int? { shown.firstIndex { $0.key == key } }
        var changedKeys: Set<CacheKey>? { nil }
        mutating func didShow() { objects.didShow() }
        var rowCount: Int { objects.rowCount }
        var limit: Int { objects.limit }
        var hasMore: Bool { objects.hasMore }
        var undecodable: [StorageError] { objects.undecodable + errors.values }
    }

    private let objects: QueryReader<Object>
    private let relation: Relation<Object, Related.Target>
    let sections: (any ItemSections<RelatedRow<Object, Related>>)?

    init(
        _ query: RelatedQuery<Object, Related>, in storage: ObjectStorage<Object>,
        sections: (any ItemSections<RelatedRow<Object, Related>>)? = nil
    ) {
        self.sections = sections
        objects = QueryReader(storage: storage, query: query.query, spansEngines: true)
        relation = query.relation
    }

    /// A reader of the same objects with another query.
    func changed(to query: RelatedQuery<Object, Related>) -> RelatedReader {
        RelatedReader(query, in: objects.storage, sections: sections)
    }

    private var targets: any StorageBackend { relation.targets.storage }

    var engine: any StorageBackend { objects.engine }

    var others: [any StorageBackend] { [targets] + objects.others }

    // MARK: Reading

    func all(limit: Int) async throws -> Contents {
        relation.targets.prepareIndexes()
        return try await atOneMoment { [self] in
            // Changes between this and the items are read again.
            let cursor = try await targets.followedCursor()
            var new = Contents(objects: try await objects.all(limit: limit))
            new.cursor = cursor
            return try await filled(new)
        }
    }

    func changes(since cursor: StorageCursor, in contents: Contents) async throws -> WindowChanges? {
        // The places of items in a group must be comparable with those that are read later.
        let havePlaces = !contents.related.isCopy && targets.traits.contains(.stablePositions)
        guard !relation.needsPositions || havePlaces,
            var changes = try await objects.changes(since: cursor, in: contents.objects)
        else { return nil }
        if let cursor = contents.cursor {
            guard let related = try await targets.changedKeys(since: cursor) else { return nil }
            changes.related = related
        }
        return changes
    }

    func update(_ contents: Contents, with changes: WindowChanges) async throws -> Contents {
        var new = contents
        if !changes.own.keys.isEmpty { new.objects = try await objects.update(new.objects, with: changes) }
        if let related = changes.related {
            new.cursor = related.cursor
            try await read(related, in: &new)
        }
        return try await filled(new)
    }

    func extend(_ contents: Contents, by count: Int, since cursor: StorageCursor?) async throws -> Contents {
        try await atOneMoment { [self] in
            // The new rows must be of the moment of the others.
            guard let cursor, let changes = try await changes(since: cursor, in: contents) else {
                return try await all(limit: contents.limit + min(count, maximumWindow - contents.limit))
            }
            var new = changes.isEmpty ? contents : try await update(contents, with: changes)
            new.objects = try await objects.extend(new.objects, by: count, since: cursor)
            return try await filled(new)
        }
    }

    /// Reads the related items that have changed.
    private func read(_ changes: LogChanges, in contents: inout Contents) async throws {
        // The changed items of which none can be related are not read.
        let keys = relation.needsPositions ? changes.keys : changes.keys.intersection(contents.groups)
        if keys.isEmpty { return }
        contents.related.remove(keys)
        contents.errors = contents.errors.filter { !keys.contains($0.key) }
        let read = try await relation.items(under: Array(keys), omittingUndecodable: true)
        contents.add(read, among: contents.groups)
    }

    /// Reads the groups that are missing, forgets those that no row has, and determines what is shown.
    private func filled(_ contents: Contents) async throws -> Contents {
        var new = contents
        let rows = new.objects.window.rows.prefix(.max)
        let groups = rows.map { relation.groups(of: $0.item, $0.key) }
        let needed = Set(groups.joined())
        let missing = needed.subtracting(new.groups)
        if !missing.isEmpty {
            let lacking = zip(rows, groups).filter { !missing.isDisjoint(with: $1) }.map { ($0.0.key, $0.0.item) }
            new.add(try await relation.items(of: lacking, among: missing, omittingUndecodable: true), among: missing)
        }
        let gone = new.groups.subtracting(needed)
        if !gone.isEmpty { new.related.forget(gone) }
        new.groups = needed
        new.shown = zip(rows, groups).prefix(new.limit).map { row, groups in
            var hasher = Hasher()
            hasher.combine(row.version)
            new.related.hash(into: &hasher, of: groups)
            let related = Related(relatedItems: new.related.objects(of: groups))
            let shown = RelatedRow(key: row.key, object: row.item, related: related)
            return QueryRow(row, showing: shown, version: hasher.finalize())
        }
        return new
    }
}

extension RelatedReader.Contents {
    /// Adds related items that were read.
    fileprivate mutating func add(_ read: RelatedItems<Related.Target>, among groups: Set<CacheKey>) {
        related.add(read, among: groups)
        if read.isCopy { related.isCopy = true }
        for error in read.undecodable where errors.count < QueryReader<Object>.maximumErrors {
            if let key = error.key { errors[key] = error }
        }
    }
}
