import Bodega
import Foundation
import Logging

/// The outbox in a local database, beside the items.
///
/// | Collection | Holds |
/// | --- | --- |
/// | `emporium-outbox` | an ``OutboxRecord`` for each item that the remote database does not have yet |
/// | `emporium-sync` | groups, and the ``SyncPlace`` |
/// | `emporium-conflicts` | the versions of items that were merged |
///
/// Each change is one transaction of the local database. Its conditions are the versions on which it is based, so
/// several programs can use the same database.
struct OutboxStorage: Sendable {
    let records: any StorageBackend
    let meta: any StorageBackend
    let conflicts: any StorageBackend

    private struct StoredRecord: Codable {
        let item: SyncItemID
        let record: OutboxRecord
    }

    /// A record, with its bytes.
    struct ReadRecord: Sendable {
        let data: Data
        let record: OutboxRecord
    }

    /// What a transaction has read, to compare with what it makes of it.
    struct Reading: Sendable {
        fileprivate(set) var records: [SyncItemID: Data] = [:]
        /// The items whose records were read, each once, in the order in which they were asked for.
        fileprivate(set) var recordItems: [SyncItemID] = []
        fileprivate var recordKeys: [CacheKey] = []
        fileprivate(set) var items: [SyncItemID: Data] = [:]
        fileprivate(set) var groups: [UUID: Data] = [:]
        fileprivate(set) var storedPlace: Data?
        /// What is stored about the remote database; `nil` if it was not read.
        fileprivate(set) var place: SyncPlace?
        var draft: OutboxDraft
    }

    /// The place that was read or written last, with its bytes, because it is read several times for each request.
    private struct KnownPlace: Sendable {
        var data = Data()
        var place = SyncPlace()
    }

    private let known = Locked(KnownPlace())

    /// The collection with the ``SyncPlace``, and its key there.
    static let (metaName, placeKey) = ("emporium-sync", CacheKey(verbatim: "place"))
    private static let original = ReadOptions(needsOriginal: true)

    init(_ open: (String) async throws -> any StorageBackend) async throws {
        records = try await open("emporium-outbox")
        meta = try await open(Self.metaName)
        conflicts = try await open("emporium-conflicts")
        try [records, meta, conflicts].forEach { try $0.checkKeepsItems() }
    }

    // MARK: Keys

    private static func key(_ item: SyncItemID) -> CacheKey {
        CacheKey(item.collection.escapingSlashes + "/" + item.key.kind.rawValue + "/" + item.key.identity)
    }

    /// The item of a record, from the record's key.
    private static func item(of key: CacheKey) -> SyncItemID? {
        let parts = key.rawValue.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, let kind = CacheKey.Kind(rawValue: parts[1]) else { return nil }
        let collection = parts[0].unescapingSlashes
        let item = SyncItemID(collection: collection, key: CacheKey(identity: parts[2], kind: kind))
        return self.key(item) == key ? item : nil
    }

    private static func key(_ group: UUID) -> CacheKey { CacheKey(verbatim: group.uuidString) }

    // MARK: Reading

    /// Reads what concerns items: their records and those with which they are sent, and what the user sees.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - knownRecords: Records that were read already. If they have changed since, the transaction will be refused.
    ///   - needsPlace: Whether the transaction needs the requests and cursors.
    ///   - draft: An empty draft.
    ///   - engine: Returns the local engine on a collection; `nil` if it is not open, so that its items can't change.
    func read(
        _ items: [SyncItemID], known knownRecords: [SyncItemID: ReadRecord] = [:], needsPlace: Bool,
        _ draft: OutboxDraft, _ engine: (String) -> (any StorageBackend)?
    ) async throws -> Reading {
        var reading = Reading(draft: draft)
        var (known, damaged): (Set<SyncItemID>, [SyncItemID]) = ([], [])
        known.reserveCapacity(items.count)
        var unknown = items.filter { known.insert($0).inserted }
        while !unknown.isEmpty {
            let keys = unknown.map(Self.key)
            reading.recordItems += unknown
            reading.recordKeys += keys
            for item in unknown {
                guard let known = knownRecords[item] else { continue }
                (reading.records[item], reading.draft.records[item]) = (known.data, known.record)
            }
            let unread = knownRecords.isEmpty ? keys : zip(unknown, keys).filter { knownRecords[$0.0] == nil }.map(\.1)
            for item in try await records.fetch(FetchRequest(unread, options: Self.original)).value {
                let stored = try Self.record(in: item)
                reading.records[stored.item] = item.data
                if stored.isDamaged {
                    damaged.append(stored.item)
                } else {
                    reading.draft.records[stored.item] = stored.record
                }
            }
            let groups = Set(unknown.compactMap { reading.draft.records[$0]?.edit?.group })
                .subtracting(reading.groups.keys)
            unknown = try await read(groups, into: &reading).filter { known.insert($0).inserted }
        }
        try await readItems(of: reading.recordItems, into: &reading, engine)
        for item in damaged {
            guard engine(item.collection) != nil else { throw Self.damage(Self.key(item)) }
            var record = OutboxRecord(server: nil)
            record.edit = OutboxRecord.Edit(data: reading.items[item])
            reading.draft.records[item] = record
        }
        if needsPlace {
            let (data, place) = try await readPlace()
            (reading.storedPlace, reading.place, reading.draft.requests) = (data, place, place.requests)
        }
        return reading
    }

    /// Reads groups, and returns their members.
    private func read(_ groups: Set<UUID>, into reading: inout Reading) async throws -> [SyncItemID] {
        if groups.isEmpty { return [] }
        var members: [SyncItemID] = []
        let keys = groups.map(Self.key)
        for item in try await meta.fetch(FetchRequest(keys, options: Self.original)).value {
            guard let id = UUID(uuidString: item.key.rawValue) else { continue }
            reading.groups[id] = item.data
            do {
                let group = try Self.decode(OutboxGroup.self, item)
                reading.draft.groups[id] = group
                members += group.members
            } catch {
                Self.warn("A transaction in the outbox is damaged. Its items are sent one by one.", item.key, error)
            }
        }
        return members
    }

    private func readItems(
        of items: [SyncItemID], into reading: inout Reading, _ engine: (String) -> (any StorageBackend)?
    ) async throws {
        for (collection, items) in items.byCollection {
            guard let engine = engine(collection) else { continue }
            let request = FetchRequest(items.map(\.key), options: Self.original)
            for item in try await engine.fetch(request).value {
                reading.items[SyncItemID(collection: collection, key: item.key)] = item.data
            }
        }
        reading.draft.items = reading.items
    }

    /// What is stored about the remote database.
    static func place(_ data: Data) throws -> SyncPlace { try decode(SyncPlace.self, data, placeKey) }

    /// The record in an item of the outbox. One that is damaged is taken for a change of which nothing is known but its
    /// item: neither the base, so that it is merged with what the remote database has, nor others with which it was
    /// made.
    private static func record(in item: StorageItem) throws -> (item: SyncItemID, record: OutboxRecord, isDamaged: Bool)
    {
        do {
            let stored = try decode(StoredRecord.self, item)
            return (stored.item, stored.record, false)
        } catch {
            guard let id = self.item(of: item.key) else { throw error }
            warn("A change in the outbox is damaged. The item is sent as it is.", item.key, error)
            var record = OutboxRecord(server: nil)
            record.edit = OutboxRecord.Edit(data: nil)
            return (id, record, true)
        }
    }

    /// Says once for each key that what is stored under it is damaged.
    private static func warn(_ message: Logger.Message, _ key: CacheKey, _ error: any Error) {
        let isNew = warned.withLock { $0.count < 1_000 && $0.insert(key).inserted }
        if isNew { syncLogger.warning(message, metadata: ["error": "\(error)"]) }
    }

    private static let warned = Locked<Set<CacheKey>>([])

    private static func damage(_ key: CacheKey, _ cause: (any Error)? = nil) -> StorageError {
        StorageError(.damaged, "The outbox can't be read.", key: key, cause: cause)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ item: StorageItem) throws -> Value {
        try decode(type, item.data, item.key)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data, _ key: CacheKey) throws -> Value {
        do {
            return try JSONObjectCoder.json.decode(type, from: data, for: key)
        } catch {
            throw damage(key, error)
        }
    }

    // MARK: Writing

    /// The batches that make of what was read what it has become.
    ///
    /// - Parameters:
    ///   - reading: What was read.
    ///   - draft: What it has become.
    ///   - place: What is to be stored about the remote database, without requests; `nil` if that has not changed.
    ///   - now: The date of conflicts.
    func batches(
        _ reading: Reading, _ draft: OutboxDraft, place: SyncPlace? = nil, now: Date
    ) throws -> [(engine: any StorageBackend, batch: StorageBatch)] {
        var (operations, conditions): ([StorageOperation], [StorageCondition]) = ([], [])
        for (item, key) in zip(reading.recordItems, reading.recordKeys) {
            conditions.append(StorageCondition(key: key, data: reading.records[item]))
            let record = draft.records[item]
            if record == reading.draft.records[item] { continue }
            if let record {
                let data = try Self.encode(StoredRecord(item: item, record: record), key)
                operations.append(.write(key: key, data: data))
            } else {
                operations.append(.remove(key: key))
            }
        }
        var batches: [(engine: any StorageBackend, batch: StorageBatch)] = []
        if !conditions.isEmpty { batches.append((records, StorageBatch(operations, if: conditions))) }
        let meta = try metaBatch(reading, draft, place)
        if meta.conditions?.isEmpty == false || !meta.operations.isEmpty { batches.append((self.meta, meta)) }
        let losses = draft.outcomes.compactMap { outcome in
            if case .merged(let conflict) = outcome.kind, !conflict.losses.isEmpty { conflict } else { nil }
        }
        if !losses.isEmpty {
            let batch = StorageBatch(
                try losses.map { conflict in
                    let stored = StoredConflict(id: UUID(), date: now, conflict: conflict)
                    let key = CacheKey(verbatim: stored.id.uuidString)
                    return .write(key: key, data: try Self.encode(stored, key))
                })
            batches.append((conflicts, batch))
        }
        return batches
    }

    private func metaBatch(
        _ reading: Reading, _ draft: OutboxDraft, _ place: SyncPlace?
    ) throws -> StorageBatch {
        var (operations, conditions): ([StorageOperation], [StorageCondition]) = ([], [])
        for id in Set(reading.groups.keys).union(draft.groups.keys) {
            let group = draft.groups[id]
            conditions.append(StorageCondition(key: Self.key(id), data: reading.groups[id]))
            if group == reading.draft.groups[id] { continue }
            if let group {
                operations.append(.write(key: Self.key(id), data: try Self.encode(group, Self.key(id))))
            } else {
                operations.append(.remove(key: Self.key(id)))
            }
        }
        if let old = reading.place {
            conditions.append(StorageCondition(key: Self.placeKey, data: reading.storedPlace))
            var place = place ?? old
            place.requests = draft.requests
            if place != old {
                let data = try Self.encode(place, Self.placeKey)
                known.withLock { [place] in $0 = KnownPlace(data: data, place: place) }
                operations.append(.write(key: Self.placeKey, data: data))
            }
        }
        return StorageBatch(operations, if: conditions)
    }

    private static func encode(_ value: some Encodable, _ key: CacheKey) throws -> Data {
        try JSONObjectCoder.json.encode(value, for: key)
    }

    // MARK: Looking

    /// The requests without an outcome, and the cursors.
    func fetchPlace() async throws -> SyncPlace { try await readPlace().place }

    private func readPlace() async throws -> (data: Data?, place: SyncPlace) {
        guard let item = try await meta.fetch(FetchRequest([Self.placeKey], options: Self.original)).value.first else {
            return (nil, SyncPlace())
        }
        if let place = known.withLock({ $0.data == item.data ? $0.place : nil }) { return (item.data, place) }
        let place = try Self.place(item.data)
        known.withLock { $0 = KnownPlace(data: item.data, place: place) }
        return (item.data, place)
    }

    /// Passes on records in the order in which their items were changed first.
    ///
    /// - Parameter receive: Receives a record, and returns whether it wants more.
    func scan(_ receive: @escaping @Sendable (SyncItemID, OutboxRecord) throws -> Bool) async throws {
        try await scan { item, record, _ in try receive(item, record) }
    }

    /// Passes on records, with their bytes, if they are not damaged.
    ///
    /// - Parameter concerns: Whether the records of a collection are wanted. The others are not decoded.
    func scan(
        where concerns: @escaping @Sendable (_ collection: String) -> Bool = { _ in true },
        _ receive: @escaping @Sendable (SyncItemID, OutboxRecord, _ data: Data?) throws -> Bool
    ) async throws {
        _ = try await records.scan(ScanRequest(options: Self.original)) {
            { _, item in
                if let id = Self.item(of: item.key), !concerns(id.collection) { return true }
                let stored = try Self.record(in: item)
                return try receive(stored.item, stored.record, stored.isDamaged ? nil : item.data)
            }
        }
    }

    /// The records of some items.
    func fetchRecords(of items: some Sequence<SyncItemID>) async throws -> [SyncItemID: OutboxRecord] {
        let found = try await records.fetch(FetchRequest(items.map(Self.key), options: Self.original)).value
        let stored = try found.map { try Self.record(in: $0) }
        return Dictionary(stored.map { ($0.item, $0.record) }, uniquingKeysWith: { first, _ in first })
    }

    /// Checks that the base of a change is known, so that it can be given up.
    ///
    /// - Throws: ``/Bodega/StorageError/Code/damaged`` if its record is damaged.
    func checkRecord(of item: SyncItemID) async throws {
        for found in try await records.fetch(FetchRequest([Self.key(item)], options: Self.original)).value {
            _ = try Self.decode(StoredRecord.self, found)
        }
    }
}

extension OutboxStorage {
    /// The conflicts that are kept, the oldest first.
    func fetchConflicts() async throws -> [StoredConflict] {
        try await conflicts.fetchAll().map { try Self.decode(StoredConflict.self, $0.data, $0.key) }
    }

    func removeConflict(_ id: UUID) async throws { try await conflicts.remove(key: CacheKey(verbatim: id.uuidString)) }
}

extension StorageBackend {
    /// - Throws: An error if items vanish without being removed.
    func checkKeepsItems() throws {
        if traits.isDisjoint(with: [.expires, .evicts]) { return }
        throw StorageError(
            .invalidArgument,
            """
            A local database whose items expire or are evicted can't be synchronized: they would vanish on this device \
            only, and with them what is not sent yet. Return engines without these wrappers.
            """)
    }
}
