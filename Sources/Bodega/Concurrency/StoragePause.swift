/// A time after a failure during which something is not tried again.
struct StoragePause: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    private let isOver = Locked<(@Sendable () -> Bool)?>(nil)

    init(duration: Duration, clock: any Clock<Duration>) {
        (self.duration, self.clock) = (duration, clock)
    }

    var isActive: Bool { isOver.withLock { $0 }.map { !$0() } ?? false }

    func begin() {
        let end = Self.deadline(after: duration, clock)
        isOver.withLock { $0 = end }
    }

    func end() { isOver.withLock { $0 = nil } }

    private static func deadline<C: Clock<Duration>>(after duration: Duration, _ clock: C) -> @Sendable () -> Bool {
        let end = clock.now.advanced(by: duration)
        return { clock.now >= end }
    }
}
