/// Backoff for signals without a change, so that an engine that signals continuously does not keep a processor busy.
struct WatchPace {
    private static let shortest = 0.01
    private static let longest = 0.25

    private var last = 0.0

    /// The seconds to wait after a check that a signal triggered, by the number of changes found.
    mutating func pause(afterFinding count: Int) -> Double {
        last = count > 0 ? 0 : min(max(last * 2, Self.shortest), Self.longest)
        return last
    }
}
