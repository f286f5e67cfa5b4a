/// How much one operation is measured.
enum Budget: Sendable, Equatable {
    /// For so long, and at least one call in each slice.
    case time(Duration)
    /// So many calls, however long they take.
    case calls(Int)

    /// A measurement consists of so many slices, one after the other, so that its own noise is known.
    ///
    /// Five are the fewest with which two measurements can be told apart: if nothing has changed, all slices of one lie
    /// beyond all of the other once in 126 comparisons (the Mann-Whitney U test with U = 0, two-sided p = 0.008).
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

    /// The budget in pieces that are short enough for people who watch.
    var pieces: [Budget] {
        guard case .time(let duration) = self else { return [self] }
        let count = max(1, Int((duration / .milliseconds(100)).rounded(.up)))
        return Array(repeating: .time(duration / count), count: count)
    }

    /// What warms up and does not count.
    var warmUp: Budget {
        switch self {
        case .time(let duration): .time(min(duration / Self.slices, .seconds(1)))
        case .calls(let calls): .calls(max(1, calls / 10))
        }
    }
}
