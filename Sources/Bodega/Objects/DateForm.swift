import Foundation

/// How a coder stores dates.
enum DateForm {
    case secondsSinceReferenceDate
    /// A multiple of the seconds since 1970.
    case seconds(Double)
}

extension DateForm {
    /// The number that is stored for a date.
    func number(for date: Date) -> Double {
        switch self {
        case .secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate
        case .seconds(let factor): date.timeIntervalSince1970 * factor
        }
    }
}
