import Bodega
import Foundation
import RecordCoder

/// The format of an item in a listing.
struct ItemLine: Sendable {
    /// Whether a line is a JSON object.
    var isJSON: Bool
    /// The end of a line that is not a JSON object.
    var ending = "\n"
    /// Whether control characters are escaped.
    var isEscaping: Bool

    /// The names of the columns of a line that is not JSON.
    static let header = [
        padded("size", left: 12), padded("created", right: 24), padded("updated", right: 24), padded("kind", right: 8),
        "key",
    ].joined(separator: "  ")

    /// The line for a key alone.
    func line(key: CacheKey) -> [UInt8] {
        isJSON
            ? JSONObjectWriter.line(["key": key.rawValue, "kind": key.kind.rawValue])
            : Array((shown(key) + ending).utf8)
    }

    /// The line for an item.
    func line(key: CacheKey, size: Int, dates: StorageDates) -> [UInt8] {
        let created = Self.timestamp(dates.createdAt)
        let updated = Self.timestamp(dates.updatedAt)
        if isJSON {
            return JSONObjectWriter.line([
                "key": key.rawValue, "kind": key.kind.rawValue, "size": size, "createdAt": created,
                "updatedAt": updated,
            ])
        }
        let columns = [Self.padded("\(size)", left: 12), created, updated, Self.padded(key.kind.rawValue, right: 8)]
        return Array((columns.joined(separator: "  ") + "  " + shown(key) + ending).utf8)
    }

    /// A date in UTC, with milliseconds, in ISO 8601 format.
    static func timestamp(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private func shown(_ key: CacheKey) -> String {
        isEscaping ? TerminalText.escaped(key.rawValue) : key.rawValue
    }

    private static func padded(_ text: String, left width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func padded(_ text: String, right width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
