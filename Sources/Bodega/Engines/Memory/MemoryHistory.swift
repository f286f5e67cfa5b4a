import DequeModule
import Foundation

/// The last changes of items in memory.
package struct MemoryHistory: Sendable {

    /// How many changes are kept.
    package static let limit = 100_000

    /// What tells this history from others.
    private let id = UUID().uuidString

    private var changes: Deque<StorageChange> = []

    /// The number of changes before the first one that is kept.
    private var forgotten = 0

    /// The end of the history.
    var cursor: StorageCursor { cursor(at: forgotten + changes.count) }

    /// Adds a change.
    mutating func append(_ change: StorageChange) {
        changes.append(change)
        guard changes.count > Self.limit else { return }
        changes.removeFirst()
        forgotten += 1
    }

    /// The changes after a cursor, `nil` if they are not known.
    func delta(since cursor: StorageCursor, excluding origin: StorageOrigin?) -> StorageDelta? {
        guard let number = number(of: cursor) else { return nil }
        let new = changes[(number - forgotten)...]
        let isNews = origin == nil || new.contains { $0.origin != origin }
        return StorageDelta(changes: isNews ? Array(new) : [], cursor: self.cursor, isComplete: true)
    }

    private func cursor(at number: Int) -> StorageCursor { StorageCursor(rawValue: "\(id)/\(number)") }

    private func number(of cursor: StorageCursor) -> Int? {
        let parts = cursor.rawValue.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == id, let number = Int(parts[1]) else { return nil }
        return (forgotten...forgotten + changes.count).contains(number) ? number : nil
    }
}
