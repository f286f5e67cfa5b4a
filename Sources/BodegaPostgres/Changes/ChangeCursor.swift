#if Postgres
import Bodega
import Foundation

/// A place in the history of a collection: which transactions a reader has seen.
///
/// A number could not say that: a transaction that took a lower number may commit later, and would be skipped. So it is
/// a snapshot of PostgreSQL's, which knows of each transaction whether it was committed. Transactions are only
/// comparable within one history: a restored database gives their numbers again. So the cursor also names a row of the
/// log, by the random identifier of its request, which must still be there.
struct ChangeCursor: Sendable, Equatable {

    /// What tells databases, their servers and their restarts apart.
    var history: String
    /// The newest row of the log when the cursor was made; `nil` if the log was empty.
    var newestRow: UUID?
    /// The changes of all that was committed here have been read.
    var seen: String
    /// Of what was committed since, a part of the changes may have been read.
    var part: Part?

    struct Part: Sendable, Equatable {
        /// The changes of what was committed here are being read.
        var upTo: String
        /// The number in the log of the last change that was.
        var lastChange: Int64
    }

    init(history: String, newestRow: UUID?, seen: String, part: Part? = nil) {
        self.history = history
        self.newestRow = newestRow
        self.seen = seen
        self.part = part
    }

    init?(_ cursor: StorageCursor) {
        let fields = cursor.rawValue.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 3 || fields.count == 5,
            fields.dropFirst(2).prefix(2).allSatisfy(Self.isSnapshot(_:))
        else { return nil }
        history = fields[0]
        newestRow = UUID(uuidString: fields[1])
        guard newestRow != nil || fields[1].isEmpty else { return nil }
        seen = fields[2]
        if fields.count == 5 {
            guard let last = Int64(fields[4]) else { return nil }
            part = Part(upTo: fields[3], lastChange: last)
        }
    }

    var storageCursor: StorageCursor {
        let rest = part.map { ";\($0.upTo);\($0.lastChange)" } ?? ""
        return StorageCursor(rawValue: "\(history);\(newestRow?.uuidString ?? "");\(seen)\(rest)")
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
