package import Bodega
package import Foundation

/// The format of an item in a listing.
package struct ItemLine: Sendable {
    /// Whether a line is a JSON object.
    package var isJSON: Bool
    /// The end of a line that is not a JSON object.
    package var ending: String
    /// Whether control characters are escaped.
    package var isEscaping: Bool

    /// Creates a form.
    package init(isJSON: Bool, ending: String = "\n", isEscaping: Bool) {
        self.isJSON = isJSON
        self.ending = ending
        self.isEscaping = isEscaping
    }

    /// The names of the columns of a line that is not JSON.
    package static let header = [
        padded("size", left: 12), padded("created", right: 24), padded("updated", right: 24), padded("kind", right: 8),
        "key",
    ].joined(separator: "  ")

    /// The line for a key alone.
    package func line(key: CacheKey) -> [UInt8] {
        isJSON ? jsonObject(key).line() : Array((shown(key) + ending).utf8)
    }

    /// The line for an item.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - size: The number of bytes.
    ///   - dates: Its dates.
    package func line(key: CacheKey, size: Int, dates: StorageDates) -> [UInt8] {
        let created = Self.timestamp(dates.createdAt)
        let updated = Self.timestamp(dates.updatedAt)
        if isJSON {
            var object = jsonObject(key)
            object.add("size", size)
            object.add("createdAt", created)
            object.add("updatedAt", updated)
            return object.line()
        }
        let columns = [Self.padded("\(size)", left: 12), created, updated, Self.padded(key.kind.rawValue, right: 8)]
        return Array((columns.joined(separator: "  ") + "  " + shown(key) + ending).utf8)
    }

    /// A date in UTC, with milliseconds, in ISO 8601 format.
    package static func timestamp(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private func jsonObject(_ key: CacheKey) -> JSONObjectWriter {
        var object = JSONObjectWriter()
        object.add("key", key.rawValue)
        object.add("kind", key.kind.rawValue)
        return object
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
