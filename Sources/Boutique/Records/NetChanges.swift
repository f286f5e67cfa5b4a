import Bodega

/// What changes of a history come to, key by key, for those who know what was there before.
///
/// Removing what is ``removed`` and then writing what is ``written`` leads to the same items in the same order as doing
/// what the history tells, one after the other: what is removed and written again is at the end.
struct NetChanges: Sendable {
    /// The keys whose items were removed at some time, each once.
    private(set) var removed: [CacheKey] = []
    /// The keys that have items in the end and were written, each once, in the order in which new ones were added.
    private(set) var written: [CacheKey] = []

    init(_ changes: [StorageChange]) {
        var removals: [CacheKey: Int] = [:]
        var writes: [CacheKey: Int] = [:]
        for (number, change) in changes.enumerated() {
            switch change.kind {
            case .written:
                if writes[change.key] == nil { writes[change.key] = number }
            case .removed:
                removals[change.key] = number
                writes[change.key] = nil
            }
        }
        for (number, change) in changes.enumerated() {
            if removals[change.key] == number { removed.append(change.key) }
            if writes[change.key] == number { written.append(change.key) }
        }
    }

    /// Leaves out of what was written what is told elsewhere.
    mutating func leaveOutWritten(_ keys: Set<CacheKey>) {
        written.removeAll(where: keys.contains)
    }
}
