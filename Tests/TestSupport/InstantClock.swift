package import Bodega

/// A clock that does not wait, and records the delays.
package final class InstantClock: Clock {
    package let delays = Locked<[Duration]>([])
    private let time = Locked(ContinuousClock().now)

    package init() {}

    package var now: ContinuousClock.Instant { time.withLock { $0 } }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { time in
            delays.withLock { $0.append(time.duration(to: deadline)) }
            time = deadline
        }
    }

    package func advance(by duration: Duration) { time.withLock { $0 += duration } }
}
