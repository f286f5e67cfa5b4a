/// A time after a failure during which something is not tried again.
struct StoragePause: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// The end of the pause, of which only its clock can say whether it has come.
    private struct End {
        let hasCome: @Sendable () -> Bool
    }

    private let current = Locked<End?>(nil)

    init(duration: Duration, clock: any Clock<Duration>) {
        (self.duration, self.clock) = (duration, clock)
    }

    var isActive: Bool { current.withLock { $0 }.map { !$0.hasCome() } ?? false }

    func begin() {
        let end = Self.end(after: duration, clock)
        current.withLock { $0 = end }
    }

    func end() { current.withLock { $0 = nil } }

    private static func end<C: Clock<Duration>>(after duration: Duration, _ clock: C) -> End {
        let end = clock.now.advanced(by: duration)
        return End { clock.now >= end }
    }
}
