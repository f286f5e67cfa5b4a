import Bodega
public import Foundation

/// A clock that moves only when it is told to.
///
/// ```swift
/// let clock = ManualClock()
/// let engine = MemoryStorageEngine(now: clock.now)
/// clock.advance(by: 60)
/// ```
///
/// It is thread-safe.
public final class ManualClock: Sendable {

    private let date: Locked<Date>

    /// Creates a clock.
    ///
    /// - Parameter start: The time that it shows first; by default 2024-02-29 12:34:56.789 UTC.
    public init(startingAt start: Date = Date(timeIntervalSince1970: 1_709_210_096.789)) {
        date = Locked(start)
    }

    /// The time that the clock shows.
    public var current: Date { date.withLock { $0 } }

    /// Tells the time, in the form in which engines take a clock.
    public var now: @Sendable () -> Date { { self.current } }

    /// Moves the clock.
    ///
    /// - Parameter seconds: How far; negative to turn it back.
    public func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }

    /// Sets the clock.
    ///
    /// - Parameter date: The time to show.
    public func set(to date: Date) {
        self.date.withLock { $0 = date }
    }
}
