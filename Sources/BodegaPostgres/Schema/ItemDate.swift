#if Postgres
import Bodega
import Foundation

/// How a date stands in a row: as milliseconds since 1970.
enum ItemDate {

    static func number(of date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        // A date that is no number stands for none.
        if milliseconds.isNaN { return 0 }
        // As far as dates that anybody has go, and further.
        return Int64(min(max(milliseconds, -9e15), 9e15))
    }

    static func dates(_ created: Int64, _ updated: Int64) -> StorageDates {
        StorageDates(createdAt: date(created), updatedAt: date(updated))
    }

    private static func date(_ number: Int64) -> Date {
        Date(timeIntervalSince1970: Double(number) / 1000)
    }
}
#endif
