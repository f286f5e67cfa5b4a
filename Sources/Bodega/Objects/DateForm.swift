/// How a coder stores dates.
enum DateForm {
    case secondsSinceReferenceDate
    /// A multiple of the seconds since 1970.
    case seconds(Double)
}
