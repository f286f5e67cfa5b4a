#if Postgres
import Bodega
import Foundation

/// A place in the log of changes: the transactions that a reader has seen.
///
/// A row number is insufficient: a transaction with a lower number may commit later, and the reader would skip it. So
/// the cursor is a PostgreSQL snapshot, which lists the open transactions. Transaction numbers are only comparable
/// within one history, as a restored database assigns them again. So the cursor also identifies the history, and a row
/// of the log by the random identifier of its request. That row must still exist.
struct ChangeCursor: Sendable, Equatable {

    /// Identifies the database, its server and the start of the server.
    var history: String
    /// The newest row of the log when the cursor was created; `nil` if the log was empty.
    var newestRow: UUID?
    /// The snapshot up to which all changes have been read.
    var seen: String
    /// The progress within the changes since `seen`; `nil` if none of them were read.
    var part: Part?

    struct Part: Sendable, Equatable {
        /// The snapshot up to which changes are being read.
        var upTo: String
        /// The number of the last row of the log that was read.
        var lastChange: Int64
    }

}

extension ChangeCursor {

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

    /// Whether a text is a snapshot: two numbers and an ascending list of numbers between them.
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
