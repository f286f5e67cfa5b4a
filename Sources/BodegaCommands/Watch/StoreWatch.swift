import Bodega
import Foundation

/// A change of a store that was noticed.
struct StoreWatchEvent: Equatable, Sendable {
    /// What happened to the item.
    enum Change: String, Sendable {
        case inserted, updated, removed
    }

    var change: Change
    var key: CacheKey
    /// When the item was written, or its removal noticed.
    var date: Date
}

/// Notices what others change in a store: by the store's history, if it keeps one, else by comparing keys and dates with
/// those before.
struct StoreWatch {
    private let address: StorageAddress
    private var known: [CacheKey: StorageDates] = [:]
    private var trace: FileTrace?
    /// The place in the store's history up to which all is known, `nil` if it keeps none.
    private var cursor: StorageCursor?
    /// Whether what comes next in the history may be known, because the items were read after the place was.
    private var isOverlapPossible = true
    /// A database, which stays connected. Files are opened each time: who reads all the time would keep writers from tidying
    /// up when they end.
    private var database: OpenStore?

    /// Begins to watch. What is there now is known.
    init(_ address: StorageAddress) async throws {
        self.address = address
        // A database has no files to look at.
        if address.url != nil { trace = try FileTrace(of: address) } else { database = try await address.openToRead() }
        try await use { watch, store in
            watch.cursor = try await store.cursor()
            watch.known = Dictionary(try await store.dates()) { $1 }
        }
    }

    /// Signals of a database that it is time to look; `nil` for files.
    func signals() -> AsyncStream<Void>? {
        (database?.engine as? any ObservableStorageEngine)?.changeSignals()
    }

    /// Ends the connection to a database.
    func close() async throws {
        try await database?.use { _ in }
    }

    private mutating func use<Result>(
        _ body: (inout Self, OpenStore) async throws -> Result
    ) async throws -> Result {
        if let database { return try await body(&self, database) }
        return try await address.openToRead().use { store in try await body(&self, store) }
    }

    /// Whether the store keeps a history, so that to look for changes takes no longer than there are changes.
    var hasHistory: Bool { cursor != nil }

    /// Finds what has changed since the last time.
    ///
    /// - Parameter now: The time.
    /// - Returns: The changes: with a history in their order, else what was written in its order, then what was removed.
    mutating func changes(now: Date) async throws -> [StoreWatchEvent] {
        let newTrace = address.url == nil ? nil : try FileTrace(of: address)
        if let trace, let newTrace, trace.isCertain(newTrace) { return [] }
        let events: [StoreWatchEvent]
        do {
            events = try await use { watch, store in
                if let events = try await watch.told(by: store, now: now) { return events }
                return try await watch.compared(with: store, now: now)
            }
        } catch let error as StorageError where newTrace != nil && [.placeRemoved, .cannotOpen].contains(error.code) {
            // If the store has gone in the midst of the look, opening it says so.
            try await address.openToRead().use { _ in }
            throw error
        }
        // Of the time before the items were read: what came meanwhile is found the next time. If they can't be read, all is.
        trace = newTrace
        return events
    }

    /// What the store's history tells, `nil` if there is none, or if it does not reach back any more.
    private mutating func told(by store: OpenStore, now: Date) async throws -> [StoreWatchEvent]? {
        guard let engine = store.engine as? any ObservableStorageEngine else { return nil }
        var events: [StoreWatchEvent] = []
        // Taken over when all is read: what fails on the way is told the next time.
        var place = cursor
        var seen = Seen(before: known)
        // Those that were found to be known already.
        var overlapping: Set<CacheKey> = isOverlapPossible ? Set(known.keys) : []
        while let from = place, let delta = try await engine.fetchChanges(since: from, excluding: nil) {
            try Task.checkCancellation()
            if !delta.isComplete, delta.cursor == from {
                throw StorageError(
                    .damaged,
                    "The log of the changes leads nowhere: the place after some changes is the one before them.")
            }
            for change in delta.changes {
                let before = seen[change.key]
                let new = try await event(of: change, in: store, now: now, &seen)
                let isKnown = overlapping.remove(change.key) != nil && before == seen[change.key]
                if let new, !isKnown { events.append(new) }
            }
            place = delta.cursor
            guard delta.isComplete else { continue }
            let news = seen.news
            // Not shared any more, so that it is not copied.
            seen = Seen(before: [:])
            for (key, dates) in news { known[key] = dates }
            cursor = place
            isOverlapPossible = false
            return events
        }
        return nil
    }

    /// What is known, with what has just been seen.
    private struct Seen {
        let before: [CacheKey: StorageDates]
        /// What has just been seen, `nil` for what was removed.
        private(set) var news: [CacheKey: StorageDates?] = [:]

        init(before: [CacheKey: StorageDates]) {
            self.before = before
        }

        subscript(key: CacheKey) -> StorageDates? {
            get { news[key] ?? before[key] }
            set { news[key] = .some(newValue) }
        }
    }

    /// The event of a change, `nil` if what was removed was not known.
    private func event(
        of change: StorageChange,
        in store: OpenStore,
        now: Date,
        _ seen: inout Seen
    ) async throws -> StoreWatchEvent? {
        let before = seen[change.key]
        switch change.kind {
        case .removed:
            seen[change.key] = nil
            return before == nil ? nil : StoreWatchEvent(change: .removed, key: change.key, date: now)
        case .written:
            // If it is gone by now, that is told next.
            let dates =
                try await store.engine.fetchDates(key: change.key) ?? StorageDates(createdAt: now, updatedAt: now)
            seen[change.key] = dates
            let kind: StoreWatchEvent.Change = before == nil ? .inserted : .updated
            return StoreWatchEvent(change: kind, key: change.key, date: dates.updatedAt)
        }
    }

    /// What is not as it was when it was last looked at.
    private mutating func compared(with store: OpenStore, now: Date) async throws -> [StoreWatchEvent] {
        // Others may have begun a history meanwhile.
        let place = try await store.cursor()
        let found = try await store.dates()
        var events: [StoreWatchEvent] = []
        var current: [CacheKey: StorageDates] = [:]
        for (key, dates) in found {
            current[key] = dates
            let before = known.removeValue(forKey: key)
            if before == dates { continue }
            let change: StoreWatchEvent.Change = before == nil ? .inserted : .updated
            events.append(StoreWatchEvent(change: change, key: key, date: dates.updatedAt))
        }
        // What is left was there before.
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
    /// The place that its history has reached, `nil` if it keeps none.
    fileprivate func cursor() async throws -> StorageCursor? {
        guard let engine = engine as? any ObservableStorageEngine else { return nil }
        do {
            return try await engine.fetchCursor()
        } catch let error as StorageError where error.code == .readOnly {
            return nil
        }
    }

    /// The keys and dates of all items.
    fileprivate func dates() async throws -> [(CacheKey, StorageDates)] {
        try await engine.datesOfAllItems().map { ($0.key, $0.dates) }
    }
}

/// What changes about a store's files when the store does.
private struct FileTrace {
    private struct File: Equatable {
        var number: Int?
        var size: Int?
        var modified: Date?
    }

    private let files: [File]
    private let taken = Date()

    /// Looks at an SQLite file and its log, or at a folder.
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
                // Gone since it was there.
                return File()
            }
        }
    }

    /// Whether it is certain that nothing has changed from this to another trace. A file that had changed within two
    /// seconds of this one may have changed again without another time: some volumes count in such steps.
    func isCertain(_ other: FileTrace) -> Bool {
        files == other.files && files.allSatisfy { $0.modified.map { taken.timeIntervalSince($0) > 2 } ?? true }
    }
}
