import Bodega

/// A clock that does not wait, and records the delays.
final class InstantClock: Clock {
    let delays = Locked<[Duration]>([])
    private let time = Locked(ContinuousClock().now)

    var now: ContinuousClock.Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { time in
            delays.withLock { $0.append(time.duration(to: deadline)) }
            time = deadline
        }
    }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}
