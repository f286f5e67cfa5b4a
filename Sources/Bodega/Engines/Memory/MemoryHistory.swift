import DequeModule
import Foundation

/// The log of the last changes of items in memory.
package struct MemoryHistory: Sendable {

    /// Maximum number of changes.
    package static let limit = 100_000

    /// Distinguishes the cursors of this log from those of others.
    private let id = UUID().uuidString

    private var changes: Deque<StorageChange> = []

    /// The number of changes that were discarded because of the limit.
    private var discarded = 0

    /// The end of the log.
    var cursor: StorageCursor { cursor(at: discarded + changes.count) }

    /// Appends a change.
    mutating func append(_ change: StorageChange) {
        changes.append(change)
        guard changes.count > Self.limit else { return }
        changes.removeFirst()
        discarded += 1
    }

    /// The changes after a cursor, `nil` if the cursor is not in the log.
    func delta(since cursor: StorageCursor, excluding origin: StorageOrigin?) -> StorageDelta? {
        guard let number = number(of: cursor) else { return nil }
        let new = changes[(number - discarded)...]
        let isForeign = origin == nil || new.contains { $0.origin != origin }
        return StorageDelta(changes: isForeign ? Array(new) : [], cursor: self.cursor, isComplete: true)
    }

    /// Whether a cursor is from another log.
    func isOther(_ cursor: StorageCursor) -> Bool {
        !cursor.rawValue.hasPrefix(id + "/") && !cursor.isOfScope
    }

    private func cursor(at number: Int) -> StorageCursor { StorageCursor(rawValue: "\(id)/\(number)") }

    private func number(of cursor: StorageCursor) -> Int? {
        let parts = cursor.rawValue.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == id, let number = Int(parts[1]) else { return nil }
        return (discarded...discarded + changes.count).contains(number) ? number : nil
    }
}
