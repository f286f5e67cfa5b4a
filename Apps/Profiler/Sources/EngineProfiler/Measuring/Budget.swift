/// The amount of measuring for one operation.
enum Budget: Sendable, Equatable {
    /// A time, with at least one call in each slice.
    case time(Duration)
    /// A number of calls, regardless of the time that they take.
    case calls(Int)

    /// The number of consecutive slices of a measurement, which show its noise.
    ///
    /// Five is the smallest number that can distinguish two measurements: without a change, all slices of one are above
    /// all of the other once in 126 comparisons (the Mann-Whitney U test with U = 0, two-sided p = 0.008).
    static let slices = 5

    /// The part of one worker in one slice.
    func part(slice: Int, worker: Int, of workers: Int) -> Budget {
        switch self {
        case .time(let duration):
            return .time(duration / Self.slices)
        case .calls(let calls):
            let parts = Self.slices * workers
            let number = worker * Self.slices + slice
            return .calls(calls / parts + (number < calls % parts ? 1 : 0))
        }
    }

    /// The budget in pieces short enough for a live view.
    var pieces: [Budget] {
        guard case .time(let duration) = self else { return [self] }
        let count = max(1, Int((duration / .milliseconds(100)).rounded(.up)))
        return Array(repeating: .time(duration / count), count: count)
    }

    /// The budget of the warm-up, which is not measured.
    var warmUp: Budget {
        switch self {
        case .time(let duration): .time(min(duration / Self.slices, .seconds(1)))
        case .calls(let calls): .calls(max(1, calls / 10))
        }
    }
}
