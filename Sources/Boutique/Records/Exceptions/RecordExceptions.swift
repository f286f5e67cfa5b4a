import Bodega

/// The records of a store that are not simply items under their own keys.
///
/// Most stores have none. There are two kinds:
/// - *Reported* records are stored, but not among the items: they can't be decoded, or hold another record's item.
/// - *Displaced* items have records under other keys than their own: files of the first Bodega, whose names are all
///   that is known of their keys, and items that had another identifier when they were written.
///
/// Each write consults the exceptions, so that it overwrites or removes no record that is still needed.
struct RecordExceptions: Sendable {

    /// The reason why a record is reported.
    private struct Report {
        let number: Int
        let error: StorageError
        /// The own key of the record's item, if another record also holds that item.
        let duplicated: CacheKey?
    }

    private var reports: [CacheKey: Report] = [:]
    private var nextNumber = 0
    /// Grows when a report is added or withdrawn.
    private(set) var reportsRevision = 0

    /// The keys of the reported records whose item another record also holds, by the key of the item.
    private var duplicates: [CacheKey: Set<CacheKey>] = [:]

    /// The keys of the records of displaced items, by the keys of the items.
    private var recordKeys: [CacheKey: CacheKey] = [:]
    /// The keys of displaced items, by the keys of their records.
    private var displacedItems: [CacheKey: CacheKey] = [:]

    /// Whether each record is an item under its own key.
    var isEmpty: Bool { reports.isEmpty && recordKeys.isEmpty }

    /// Whether a changed record does not show which item has changed, so that all records have to be read.
    var hidePlaces: Bool { hasDisplacedItems || hasDuplicates }

    // MARK: Reported records

    /// Whether there are reported records.
    var hasReports: Bool { !reports.isEmpty }

    /// The errors of the reported records, with their keys, in the order of the reports.
    var reported: [StorageError] {
        reports.values.sorted { $0.number < $1.number }.map { $0.error }
    }

    /// Returns whether a record is reported.
    func isReported(_ key: CacheKey) -> Bool {
        reports[key] != nil
    }

    /// Returns the key of the reported record that a write under a key would replace, if there is one.
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

    /// Whether records are reported because another record also holds their item.
    var hasDuplicates: Bool { !duplicates.isEmpty }

    /// Reports that a record holds an item that another record also holds.
    mutating func reportDuplicate(_ recordKey: CacheKey, of key: CacheKey) {
        report(
            StorageError(
                .duplicateRecord,
                """
                The record holds the item \(key), as another record does. It stays stored until the item is removed or \
                removeUndecodable() is called.
                """,
                key: recordKey
            ),
            duplicated: key
        )
    }

    /// Returns whether a record is reported because another record also holds the item with a key.
    func isDuplicate(_ recordKey: CacheKey, of key: CacheKey) -> Bool {
        reports[recordKey]?.duplicated == key
    }

    /// Withdraws the reports of the duplicate records of an item.
    ///
    /// - Returns: The keys of these records, each with the key of the item.
    mutating func withdrawDuplicates(of key: CacheKey) -> [CacheKey: CacheKey] {
        guard let records = duplicates[key] else { return [:] }
        for record in records { withdrawReport(of: record) }
        return Dictionary(uniqueKeysWithValues: records.map { ($0, key) })
    }

    /// Withdraws the reports of the duplicate records of all items.
    ///
    /// - Returns: The keys of these records, each with the key of its item.
    mutating func withdrawAllDuplicates() -> [CacheKey: CacheKey] {
        duplicates.keys.reduce(into: [:]) { $0.merge(withdrawDuplicates(of: $1)) { first, _ in first } }
    }

    // MARK: Displaced items

    /// Whether there are displaced items.
    var hasDisplacedItems: Bool { !recordKeys.isEmpty }

    /// Returns the key of an item's record.
    func recordKey(of key: CacheKey) -> CacheKey {
        recordKeys[key] ?? key
    }

    /// Returns the key of the displaced item whose record is under a key, if there is one.
    func displacedItem(at key: CacheKey) -> CacheKey? {
        displacedItems[key]
    }

    /// Records that an item's record is under another key.
    mutating func displace(_ key: CacheKey, to recordKey: CacheKey) {
        recordKeys[key] = recordKey
        displacedItems[recordKey] = key
    }

    /// Records that an item is no longer displaced: it is under its own key, or was removed.
    ///
    /// - Returns: The key of the record that the item had, or `nil` if the item was not displaced.
    mutating func removeDisplacement(of key: CacheKey) -> CacheKey? {
        guard !recordKeys.isEmpty, let recordKey = recordKeys.removeValue(forKey: key) else { return nil }
        displacedItems[recordKey] = nil
        return recordKey
    }

    /// Records that no item is displaced any longer.
    mutating func removeAllDisplacements() {
        recordKeys = [:]
        displacedItems = [:]
    }
}

extension CacheKey {
    /// The key of this key's file in a folder that the first Bodega has written.
    var asFileName: CacheKey { CacheKey(verbatim: value) }
}
