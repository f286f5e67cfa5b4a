import Foundation

/// The dates in SQLite files of Bodega 2 and of this package: UTC in the form `2022-06-22T18:30:00.123`.
///
/// The calendar arithmetic is by Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
/// (https://howardhinnant.github.io/date_algorithms.html), because a `DateFormatter` is slower than the SQL around it.
enum SQLiteDate {

    /// SQL for the current date in this form.
    static let now = "strftime('%Y-%m-%dT%H:%M:%f', 'now')"

    /// Formats a date, rounded to milliseconds and limited to the years 0 to 9999. A date that is not a number becomes
    /// the first moment of 1970, as in ``DiskStorageEngine``.
    static func text(of date: Date) -> String {
        let milliseconds = clamp(date)
        let seconds = floorDivide(milliseconds, by: 1000)
        let days = floorDivide(seconds.quotient, by: 86_400)
        let day = civil(fromDays: days.quotient)
        let time = days.remainder
        return String(unsafeUninitializedCapacity: 23) { characters in
            var position = 0
            func put(_ number: Int, digits: Int) {
                var rest = number
                for index in stride(from: position + digits - 1, through: position, by: -1) {
                    characters[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                position += digits
            }
            func put(_ character: UInt8) {
                characters[position] = character
                position += 1
            }
            put(day.year, digits: 4)
            put(UInt8(ascii: "-"))
            put(day.month, digits: 2)
            put(UInt8(ascii: "-"))
            put(day.day, digits: 2)
            put(UInt8(ascii: "T"))
            put(time / 3600, digits: 2)
            put(UInt8(ascii: ":"))
            put(time / 60 % 60, digits: 2)
            put(UInt8(ascii: ":"))
            put(time % 60, digits: 2)
            put(UInt8(ascii: "."))
            put(seconds.remainder, digits: 3)
            return position
        }
    }

    /// Parses a date; a missing fraction and a trailing `Z` are accepted.
    ///
    /// - Returns: `nil` if the text is not a date.
    static func date(of text: String) -> Date? {
        var bytes = Array(text.utf8)
        if bytes.last == UInt8(ascii: "Z") { bytes.removeLast() }
        if bytes.count == 19 { bytes += Array(".000".utf8) }
        guard bytes.count == 23 else { return nil }
        for (index, separator) in zip([4, 7, 10, 13, 16, 19], "--T::.".utf8) where bytes[index] != separator {
            // SQLite's own functions separate day and time by a space.
            if index != 10 || bytes[index] != UInt8(ascii: " ") { return nil }
        }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let millisecond = number(20..<23),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        let seconds = ((days(fromYear: year, month: month, day: day) * 24 + hour) * 60 + minute) * 60 + second
        return Date(timeIntervalSince1970: Double(seconds * 1000 + millisecond) / 1000)
    }

    private static func clamp(_ date: Date) -> Int {
        let first = -62_167_219_200_000.0  // 0000-01-01T00:00:00.000
        let last = 253_402_300_799_999.0  // 9999-12-31T23:59:59.999
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return milliseconds.isNaN ? 0 : Int(min(max(milliseconds, first), last))
    }

    private static func floorDivide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func days(fromYear year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
