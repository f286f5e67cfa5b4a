import Bodega
import Foundation

/// An observed change of a store.
struct StoreWatchEvent: Equatable, Sendable {
    /// The kind of change.
    enum Change: String, Sendable {
        case inserted, updated, removed
    }

    var change: Change
    var key: CacheKey
    /// The time when the item was written, or its removal was observed.
    var date: Date
}

/// Observes a store's changes: from its log, if it has one, else by comparing keys and dates with previous ones.
struct StoreWatch {
    private let address: StorageAddress
    private let encryption: StoreEncryption?
    private var known: [CacheKey: StorageDates] = [:]
    private var trace: FileTrace?
    /// The items whose dates could not be read at the beginning. Without a log, their changes are not found.
    let undated = UnreadableItems()
    /// The error if keys could not be decrypted at the beginning.
    private(set) var hiddenKeys: ToolError?
    /// The place in the store's log up to which all changes are known, `nil` if there is no log.
    private var cursor: StorageCursor?
    /// Whether the next changes in the log may be known already, because the items were read after the cursor.
    private var isOverlapPossible = true
    /// A database or a server, which stays connected. Files are opened for each check: a permanent reader would prevent
    /// writers from cleaning up when they end.
    private var database: OpenStore?

    /// Begins to watch. The current items are known.
    init(_ address: StorageAddress, _ encryption: StoreEncryption? = nil, token: ServerToken? = nil) async throws {
        (self.address, self.encryption) = (address, encryption)
        // A database and a server have no files to check.
        if address.fileURL != nil {
            trace = try FileTrace(of: address)
        } else {
            database = try await address.openToRead(token: token).decrypting(with: encryption)
        }
        try await use { watch, store in
            watch.cursor = try await store.cursor()
            watch.known = Dictionary(try await store.dates(watch.undated)) { $1 }
            watch.hiddenKeys = store.hiddenKeys(among: Array(watch.known.keys), "Their changes are shown.")
        }
    }

    /// The signals of a database or a server that there may be changes; `nil` for files.
    func signals() -> AsyncStream<Void>? { database?.engine.log?.changeSignals(excluding: nil) }

    /// Whether the same check can succeed later, after an error of this one. A database or a server that is restarted
    /// is reached again.
    func mayRetry(after error: StorageError) -> Bool {
        let codes = [.unreachable, .timedOut, StorageError.Code(rawValue: "rateLimited")]
        return error.code == .locked || database != nil && codes.contains(error.code)
    }

    /// Closes the connection to a database.
    func close() async throws { try await database?.use { _ in } }

    private mutating func use<Result>(_ body: (inout Self, OpenStore) async throws -> Result) async throws -> Result {
        if let database { return try await body(&self, database) }
        return try await address.openToRead().decrypting(with: encryption).use { store in
            try await body(&self, store)
        }
    }

    /// Whether the store has a log, so that the cost of a check is proportional to the number of changes.
    var hasLog: Bool { cursor != nil }

    /// Finds the changes since the last check.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The changes: with a log, in its order; else writes in the order of the items, then removals.
    mutating func changes(now: Date) async throws -> [StoreWatchEvent] {
        let newTrace = address.fileURL == nil ? nil : try FileTrace(of: address)
        if let trace, let newTrace, trace.isCertain(newTrace) { return [] }
        let events: [StoreWatchEvent]
        do {
            events = try await use { watch, store in
                if let events = try await watch.logged(in: store, now: now) { return events }
                return try await watch.compared(with: store, now: now)
            }
        } catch let error as StorageError where newTrace != nil && [.placeRemoved, .cannotOpen].contains(error.code) {
            // If the store was removed during the check, opening it throws an error that says so.
            try await address.openToRead().use { _ in }
            throw error
        }
        // From before the items were read, so the next check finds changes during this one, or all if it fails.
        trace = newTrace
        return events
    }

    /// The changes in the store's log, `nil` if there is no log or it no longer reaches back to the cursor.
    private mutating func logged(in store: OpenStore, now: Date) async throws -> [StoreWatchEvent]? {
        guard let log = store.engine.log else { return nil }
        var events: [StoreWatchEvent] = []
        // Assigned when all changes are read: after a failure, the next check reports them.
        var place = cursor
        var seen = Seen(before: known)
        // The keys whose first change in the log may be known already.
        var overlapping: Set<CacheKey> = isOverlapPossible ? Set(known.keys) : []
        while let from = place, let delta = try await log.fetchChanges(ChangesRequest(since: from)).value {
            try Task.checkCancellation()
            if !delta.isComplete, delta.cursor == from {
                throw StorageError(
                    .damaged,
                    "The store's log of changes is damaged: its cursor does not advance. Run: bodega verify STORE")
            }
            for change in delta.changes {
                let before = seen[change.key]
                let new = try await event(of: change, in: store, now: now, &seen)
                let isKnown = overlapping.remove(change.key) != nil && before == seen[change.key]
                if let new, !isKnown { events.append(new) }
            }
            place = delta.cursor
            guard delta.isComplete else { continue }
            let changed = seen.changed
            // Releases the reference to `known`, so that it is not copied.
            seen = Seen(before: [:])
            for (key, dates) in changed { known[key] = dates }
            cursor = place
            isOverlapPossible = false
            return events
        }
        return nil
    }

    /// The known dates, with the changes that were just read.
    private struct Seen {
        let before: [CacheKey: StorageDates]
        /// The changed dates, `nil` for a removed item.
        var changed: [CacheKey: StorageDates?] = [:]

        subscript(key: CacheKey) -> StorageDates? {
            get { changed[key] ?? before[key] }
            set { changed[key] = .some(newValue) }
        }
    }

    /// The event for a change, `nil` for the removal of an unknown item.
    private func event(
        of change: StorageChange, in store: OpenStore, now: Date, _ seen: inout Seen
    ) async throws -> StoreWatchEvent? {
        let before = seen[change.key]
        switch change.kind {
        case .removed:
            seen[change.key] = nil
            return before == nil ? nil : StoreWatchEvent(change: .removed, key: change.key, date: now)
        case .written:
            // If the item is removed by now, the log reports that next.
            var dates = StorageDates(createdAt: now, updatedAt: now)
            try await UnreadableItems().collecting {
                dates = try await store.engine.fetchDates(key: change.key) ?? dates
            }
            seen[change.key] = dates
            let kind: StoreWatchEvent.Change = before == nil ? .inserted : .updated
            return StoreWatchEvent(change: kind, key: change.key, date: dates.updatedAt)
        }
    }

    /// The changes found by comparing all keys and dates with those of the last check.
    private mutating func compared(with store: OpenStore, now: Date) async throws -> [StoreWatchEvent] {
        // Another process may have started a log since the last check.
        let place = try await store.cursor()
        let undated = UnreadableItems()
        let found = try await store.dates(undated)
        var events: [StoreWatchEvent] = []
        var current: [CacheKey: StorageDates] = [:]
        // It is unknown whether these have changed, but they are there.
        for key in undated.all.compactMap(\.key) { current[key] = known.removeValue(forKey: key) }
        for (key, dates) in found {
            current[key] = dates
            let before = known.removeValue(forKey: key)
            if before == dates { continue }
            let change: StoreWatchEvent.Change = before == nil ? .inserted : .updated
            events.append(StoreWatchEvent(change: change, key: key, date: dates.updatedAt))
        }
        // The remaining keys were removed.
        events += known.keys.sorted { $0.rawValue < $1.rawValue }.map {
            StoreWatchEvent(change: .removed, key: $0, date: now)
        }
        known = current
        cursor = place
        isOverlapPossible = true
        return events
    }
}

extension OpenStore {
    /// The current place in its log, `nil` if it has none.
    fileprivate func cursor() async throws -> StorageCursor? {
        do {
            return try await engine.log?.fetchCursor()
        } catch let error as StorageError where error.code == .readOnly {
            return nil
        }
    }

    /// The keys and dates of all items but those whose dates can't be read.
    fileprivate func dates(_ undated: UnreadableItems) async throws -> [(CacheKey, StorageDates)] {
        do {
            return try await engine.fetchAllDates().map { ($0.key, $0.dates) }
        } catch let error as StorageError where error.key != nil {
            var found: [(CacheKey, StorageDates)] = []
            for key in try await engine.fetchKeys() {
                try await undated.collecting {
                    if let dates = try await engine.fetchDates(key: key) { found.append((key, dates)) }
                }
            }
            return found
        }
    }
}

/// The properties of a store's files that change when the store does.
private struct FileTrace {
    private struct File: Equatable {
        var number: Int?
        var size: Int?
        var modified: Date?
    }

    private let files: [File]
    private let taken = Date()

    /// Reads the properties of an SQLite file and its write-ahead log, or of a folder.
    init(of address: StorageAddress) throws {
        let path = URL(fileURLWithPath: address.path).resolvingSymlinksInPath().path
        files = try (address.engine == .sqlite ? [path, path + "-wal"] : [path]).map { path in
            guard FileManager.default.fileExists(atPath: path) else { return File() }
            do {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return File(
                    number: (attributes[.systemFileNumber] as? NSNumber)?.intValue,
                    size: (attributes[.size] as? NSNumber)?.intValue,
                    modified: attributes[.modificationDate] as? Date
                )
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                // Removed after the check for existence.
                return File()
            }
        }
    }

    /// Whether the files certainly did not change between this trace and another. A file modified within two seconds
    /// before this trace may change again with the same date: some volumes' dates have that precision.
    func isCertain(_ other: FileTrace) -> Bool {
        files == other.files && files.allSatisfy { $0.modified.map { taken.timeIntervalSince($0) > 2 } ?? true }
    }
}
