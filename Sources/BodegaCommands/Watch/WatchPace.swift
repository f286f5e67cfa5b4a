/// How long a watch ignores signals after one without a change, so that an engine that signals all the time does not keep
/// a processor busy.
struct WatchPace {
    private static let shortest = 0.01
    private static let longest = 0.25

    private var last = 0.0

    /// The seconds to wait after a look that a signal led to.
    ///
    /// - Parameter count: How many changes were found.
    mutating func pause(afterFinding count: Int) -> Double {
        last = count > 0 ? 0 : min(max(last * 2, Self.shortest), Self.longest)
        return last
    }
}
