import Foundation

/// The three forms of a date of HTTP: RFC 9110, section 5.6.7.
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
enum HTTPDate {

    /// Returns the date of a text; `nil` if it is not one.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The current time, from which the century of a year with two digits follows.
    static func date(of text: String, now: Date = Date()) -> Date? {
        let parts = text.split { " ,-:".contains($0) }.map(String.init)
        guard let first = parts.first, days.contains(String(first.prefix(3))) else { return nil }
        switch parts.count {
        case 8 where parts[7] == "GMT":
            return date(year: parts[3], month: parts[2], day: parts[1], time: parts[4...6], now: now)
        case 7:
            return date(year: parts[6], month: parts[1], day: parts[2], time: parts[3...5], now: now)
        default: return nil
        }
    }

    private static let days: Set = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    private static func date(year: String, month: String, day: String, time: ArraySlice<String>, now: Date) -> Date? {
        guard let number = number(year, 0...9999), [2, 4].contains(year.count) else { return nil }
        if year.count == 4 { return date(year: number, month: month, day: day, time: time) }
        // A year with two digits that would be more than 50 years ahead is one of the past.
        let current = calendar.component(.year, from: now)
        let latest = calendar.date(byAdding: .year, value: 50, to: now) ?? now
        return (0...2).lazy.compactMap { centuries in
            date(year: current - current % 100 + number + 100 - 100 * centuries, month: month, day: day, time: time)
        }.first { $0 <= latest }
    }

    private static func date(year: Int, month: String, day: String, time: ArraySlice<String>) -> Date? {
        let limits = [0...23, 0...59, 0...60]
        let time = zip(time, limits).compactMap { number($0, $1) }
        guard time.count == 3, let month = months.firstIndex(of: month), let day = number(day, 1...31)
        else { return nil }
        let components = DateComponents(
            year: year, month: month + 1, day: day, hour: time[0], minute: time[1], second: time[2])
        guard let date = calendar.date(from: components), calendar.component(.day, from: date - Double(time[2])) == day
        else { return nil }
        return date
    }
}
