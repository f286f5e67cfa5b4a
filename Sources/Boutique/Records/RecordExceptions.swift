import Bodega

/// Where a store's records are, as far as that is not simply an item under its own key.
///
/// Nearly always it is empty. It knows two exceptions:
/// - *reported* records, which are stored and are not among the items: they could not be decoded, or hold an item that
///   another record shows;
/// - *displaced* items, whose record is under another key than their own: the files of the first Bodega, whose names are
///   all that is known of their keys, and items that were identified by something else when they were written.
///
/// Everything that is written goes through it, so that no record is overwritten or removed that somebody still needs.
struct RecordExceptions: Sendable {

    /// Why a record is reported.
    private struct Report {
        let number: Int
        let error: StorageError
        /// The key of its item, if another record shows that.
        let duplicated: CacheKey?
    }

    private var reports: [CacheKey: Report] = [:]
    private var nextNumber = 0
    /// Grows when a report comes or goes.
    private(set) var reportsRevision = 0

    /// The reported records that hold an item which another record shows, by that item's key.
    private var duplicates: [CacheKey: Set<CacheKey>] = [:]

    private var recordKeys: [CacheKey: CacheKey] = [:]
    private var owners: [CacheKey: CacheKey] = [:]

    /// Whether each record is an item under its own key.
    var isEmpty: Bool { reports.isEmpty && recordKeys.isEmpty }

    // MARK: Reported records

    /// Whether there are reported records.
    var hasReports: Bool { !reports.isEmpty }

    /// One error for each reported record, in the order in which they came, with its key.
    var reported: [StorageError] {
        reports.values.sorted { $0.number < $1.number }.map { $0.error }
    }

    /// Whether a record is reported.
    func isReported(_ key: CacheKey) -> Bool {
        reports[key] != nil
    }

    /// The key of the reported record that a write under a key would replace, if there is one.
    func reportedRecord(replacedBy key: CacheKey) -> CacheKey? {
        if reports.isEmpty { return nil }
        return [key, key.asFileName].first { isReported($0) }
    }

    /// Reports a record, in place of an earlier report.
    mutating func report(_ error: StorageError) {
        report(error, duplicated: nil)
    }

    private mutating func report(_ error: StorageError, duplicated: CacheKey?) {
        guard let key = error.key else { return }
        withdrawReport(of: key)
        reports[key] = Report(number: nextNumber, error: error, duplicated: duplicated)
        if let duplicated { duplicates[duplicated, default: []].insert(key) }
        nextNumber += 1
        reportsRevision += 1
    }

    /// Withdraws the report of a record.
    mutating func withdrawReport(of key: CacheKey) {
        guard let report = reports.removeValue(forKey: key) else { return }
        reportsRevision += 1
        guard let item = report.duplicated else { return }
        duplicates[item]?.remove(key)
        if duplicates[item]?.isEmpty == true { duplicates[item] = nil }
    }

    /// Whether records are reported because another one shows their item.
    var hasDuplicates: Bool { !duplicates.isEmpty }

    /// Reports that a record holds an item which another one shows.
    mutating func reportDuplicate(_ recordKey: CacheKey, of key: CacheKey) {
        report(
            StorageError(
                .duplicateRecord,
                "The record holds an item that another record has, too; the item's own key is \(key). It stays stored.",
                key: recordKey
            ),
            duplicated: key
        )
    }

    /// Whether a record is reported because another one shows the item with a key.
    func isDuplicate(_ recordKey: CacheKey, of key: CacheKey) -> Bool {
        reports[recordKey]?.duplicated == key
    }

    /// Withdraws the reports of the other records of an item.
    ///
    /// - Returns: The keys of these records, each with that of the item.
    mutating func withdrawDuplicates(of key: CacheKey) -> [CacheKey: CacheKey] {
        guard let records = duplicates[key] else { return [:] }
        for record in records { withdrawReport(of: record) }
        return Dictionary(uniqueKeysWithValues: records.map { ($0, key) })
    }

    /// Withdraws the reports of the other records of all items.
    ///
    /// - Returns: The keys of these records, each with that of its item.
    mutating func withdrawAllDuplicates() -> [CacheKey: CacheKey] {
        duplicates.keys.reduce(into: [:]) { $0.merge(withdrawDuplicates(of: $1)) { first, _ in first } }
    }

    // MARK: Displaced items

    /// Whether there are displaced items.
    var hasDisplacedItems: Bool { !recordKeys.isEmpty }

    /// The key of an item's record.
    func recordKey(of key: CacheKey) -> CacheKey {
        recordKeys[key] ?? key
    }

    /// The key of the displaced item whose record is under a key, if there is one.
    func displacedItem(at key: CacheKey) -> CacheKey? {
        owners[key]
    }

    /// Notes that an item's record is under another key.
    mutating func displace(_ key: CacheKey, to recordKey: CacheKey) {
        recordKeys[key] = recordKey
        owners[recordKey] = key
    }

    /// Notes that an item is under its own key from now on, or gone.
    ///
    /// - Returns: The key that its record was under, if that was another one.
    mutating func settle(_ key: CacheKey) -> CacheKey? {
        guard !recordKeys.isEmpty, let recordKey = recordKeys.removeValue(forKey: key) else { return nil }
        owners[recordKey] = nil
        return recordKey
    }

    /// Notes that no item is displaced any more.
    mutating func settleAll() {
        recordKeys = [:]
        owners = [:]
    }
}

extension CacheKey {
    /// The key that stands for this one's file in a folder that the first Bodega has written.
    var asFileName: CacheKey { CacheKey(verbatim: value) }
}
