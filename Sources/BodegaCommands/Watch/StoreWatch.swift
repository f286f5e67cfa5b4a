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

/// Notices what others change in a store, by comparing keys and dates with those before.
struct StoreWatch {
    private let address: StorageAddress
    private var known: [CacheKey: StorageDates] = [:]
    private var trace: FileTrace?

    /// Begins to watch. What is there now is known.
    init(_ address: StorageAddress) async throws {
        self.address = address
        // A database has no files to look at.
        if address.url != nil { trace = try FileTrace(of: address) }
        known = Dictionary(try await Self.dates(at: address)) { $1 }
    }

    /// Finds what has changed since the last time.
    ///
    /// - Parameter now: The time.
    /// - Returns: The changes: what was written in its order, then what was removed.
    mutating func changes(now: Date) async throws -> [StoreWatchEvent] {
        let newTrace = address.url == nil ? nil : try FileTrace(of: address)
        if let trace, let newTrace, trace.isCertain(newTrace) { return [] }
        let dates = try await Self.dates(at: address)
        // Of the time before the items were read: what came meanwhile is found the next time. If they can't be read, all is.
        trace = newTrace
        var events: [StoreWatchEvent] = []
        var current: [CacheKey: StorageDates] = [:]
        for (key, dates) in dates {
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
        return events
    }

    /// The store is opened each time: who reads all the time would keep writers from tidying up when they end.
    private static func dates(at address: StorageAddress) async throws -> [(CacheKey, StorageDates)] {
        try await address.openToRead().use { store in
            try await store.engine.datesOfAllItems().map { ($0.key, $0.dates) }
        }
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
