#if Postgres
import Bodega
import Foundation

/// The representation of a date in a row: milliseconds since 1970.
enum ItemDate {

    static func number(of date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        // A NaN date is stored as 1970.
        if milliseconds.isNaN { return 0 }
        // Clamped to about 285,000 years around 1970.
        return Int64(min(max(milliseconds, -9e15), 9e15))
    }

    static func dates(_ created: Int64, _ updated: Int64) -> StorageDates {
        StorageDates(createdAt: date(created), updatedAt: date(updated))
    }

    private static func date(_ number: Int64) -> Date {
        Date(timeIntervalSince1970: Double(number) / 1000)
    }
}

extension QueryResult {
    /// The dates in two columns of a row.
    func dates(_ row: Int, _ column: Int) throws -> StorageDates {
        ItemDate.dates(try number(row, column), try number(row, column + 1))
    }
}
#endif
