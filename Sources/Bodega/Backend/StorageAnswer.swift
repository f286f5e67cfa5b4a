public import Foundation

/// The answer to a request: a value, and a report for the wrappers around the engine.
public struct StorageAnswer<Value: StorageAnswerValue>: Sendable {
    /// The requested value.
    public var value: Value
    /// Where the value comes from, and which items are missing or gone.
    public var report: StorageReport

    /// Creates an answer.
    public init(_ value: Value, _ report: StorageReport = StorageReport()) {
        (self.value, self.report) = (value, report)
    }
}

/// A report about an answer: where it comes from, and which items are missing or gone.
public struct StorageReport: Sendable {

    /// Where an answer comes from.
    public struct Sources: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A copy, which may be older than what is stored. A cache must not keep it.
        public static let copy = Sources(rawValue: 1 << 0)

        /// The original, where there are copies, too.
        public static let original = Sources(rawValue: 1 << 1)
    }

    /// The errors of the items that were left out, see ``ReadOptions/omitsUnreadable``.
    public var unreadable: [StorageError] = []

    /// The keys of the items that the engine has removed on its own. A wrapper that knows their data must forget it.
    public var evicted: Set<CacheKey> = []

    /// Where the answer comes from; empty if there is only one place.
    public var sources: Sources = []

    /// Whether a cursor without changes after it is from another log than that of the engine, for example because the
    /// database was restored from a backup. `false` also if that is not known.
    public var isOtherLog = false

    /// Creates an empty report.
    public init() {}

    /// Adds the report of another call.
    public mutating func add(_ other: StorageReport) {
        if !other.unreadable.isEmpty { unreadable += other.unreadable }
        if !other.evicted.isEmpty { evicted.formUnion(other.evicted) }
        sources.formUnion(other.sources)
        isOtherLog = isOtherLog || other.isOtherLog
    }

    /// Replaces the keys in the report. An item without a new key does not concern the caller.
    func mapKeys(_ key: (CacheKey) -> CacheKey?) -> StorageReport {
        if unreadable.isEmpty, evicted.isEmpty { return self }
        var report = self
        report.unreadable = unreadable.compactMap { error in
            guard let old = error.key else { return error }
            var error = error
            error.key = key(old)
            return error.key == nil ? nil : error
        }
        report.evicted = Set(evicted.compactMap(key))
        return report
    }
}

/// A value of an answer.
public protocol StorageAnswerValue: Sendable {
    /// The number of bytes of all items.
    var byteCount: Int { get }
}

extension Data: StorageAnswerValue {
    public var byteCount: Int { count }
}

extension StorageByteStream: StorageAnswerValue {
    /// The number of bytes, 0 if it is not known.
    public var byteCount: Int { count ?? 0 }
}

extension Optional: StorageAnswerValue where Wrapped: StorageAnswerValue {
    public var byteCount: Int { self?.byteCount ?? 0 }
}

extension Array: StorageAnswerValue where Element == StorageItem {
    public var byteCount: Int { reduce(0) { $0 + $1.data.count } }
}

extension StorageDelta: StorageAnswerValue {
    public var byteCount: Int { items.byteCount }
}

/// The outcome of a scan. Its items were passed on.
public struct ScanOutcome: StorageAnswerValue, Hashable {
    /// The number of items that were only counted.
    public var count: Int

    /// The number of bytes of the items that were passed on.
    public var byteCount: Int

    /// The end of the log at the moment of the scan, see ``ScanRequest/needsCursor``.
    public var cursor: StorageCursor?

    /// What the relevance of items depends on, see ``ScanRequest/ranking``; `nil` if the engine does not know it.
    public var ranking: SearchRanking?

    /// Creates an outcome.
    public init(
        count: Int = 0, byteCount: Int = 0, cursor: StorageCursor? = nil, ranking: SearchRanking? = nil
    ) {
        (self.count, self.byteCount, self.cursor, self.ranking) = (count, byteCount, cursor, ranking)
    }
}

/// The outcome of a batch.
public struct BatchOutcome: StorageAnswerValue, Hashable {
    /// Whether all conditions were met, and the operations applied.
    public var wasApplied: Bool

    /// The place of the batch in the log; `nil` if it is not known.
    public var commit: StorageCommit?

    /// When the written items expire, see ``StorageTraits/expires``; `nil` if they don't.
    public var expiry: Date?

    /// Creates an outcome.
    public init(wasApplied: Bool = true, commit: StorageCommit? = nil, expiry: Date? = nil) {
        (self.wasApplied, self.commit, self.expiry) = (wasApplied, commit, expiry)
    }

    public var byteCount: Int { 0 }
}

/// An answer without a value, such as that of the creation of an index.
public struct StorageDone: StorageAnswerValue, Hashable {
    /// Creates the answer.
    public init() {}

    public var byteCount: Int { 0 }
}

extension StorageCursor: StorageAnswerValue {
    public var byteCount: Int { 0 }
}

extension Set: StorageAnswerValue where Element == StorageIndex {
    public var byteCount: Int { 0 }
}
