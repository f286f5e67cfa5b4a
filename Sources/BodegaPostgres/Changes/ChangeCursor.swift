#if Postgres
import Bodega
import Foundation

/// A place in the history of a collection: which transactions a reader has seen.
///
/// A number could not say that: a transaction that took a lower number may commit later, and would be skipped. So it is
/// a snapshot of PostgreSQL's, which knows of each transaction whether it was committed. Transactions are only
/// comparable on one timeline of one database: after a failover, a cursor from before is of another history.
struct ChangeCursor: Sendable, Equatable {

    /// What tells databases and their timelines apart.
    var history: String
    /// All that was committed here has been told.
    var seen: String
    /// Of what was committed since, a part of the changes may have been told.
    var part: Part?

    struct Part: Sendable, Equatable {
        /// What was committed here is being told.
        var upTo: String
        /// The number in the log of the last change that was.
        var lastChange: Int64
    }

    init(history: String, seen: String, part: Part? = nil) {
        self.history = history
        self.seen = seen
        self.part = part
    }

    init?(_ cursor: StorageCursor) {
        let fields = cursor.rawValue.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 2 || fields.count == 4,
            fields.dropFirst().prefix(2).allSatisfy(Self.isSnapshot(_:))
        else { return nil }
        history = fields[0]
        seen = fields[1]
        if fields.count == 4 {
            guard let last = Int64(fields[3]) else { return nil }
            part = Part(upTo: fields[2], lastChange: last)
        }
    }

    var storageCursor: StorageCursor {
        let rest = part.map { ";\($0.upTo);\($0.lastChange)" } ?? ""
        return StorageCursor(rawValue: "\(history);\(seen)\(rest)")
    }

    /// Whether a text is a snapshot: two numbers, and a list of numbers between them.
    private static func isSnapshot(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let first = UInt64(parts[0]), let end = UInt64(parts[1]), first <= end, first > 0 else {
            return false
        }
        let list = parts[2].isEmpty ? [] : parts[2].split(separator: ",", omittingEmptySubsequences: false)
        var last: UInt64?
        return list.allSatisfy { text in
            guard let number = UInt64(text), (first..<end).contains(number), last.map({ $0 < number }) ?? true else {
                return false
            }
            last = number
            return true
        }
    }
}
#endif
