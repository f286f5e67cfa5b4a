import Bodega
public import Foundation

/// A clock that advances only when told to.
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
    /// - Parameter start: The initial time; by default 2024-02-29 12:34:56.789 UTC.
    public init(startingAt start: Date = Date(timeIntervalSince1970: 1_709_210_096.789)) {
        date = Locked(start)
    }

    /// The current time of the clock.
    public var current: Date { date.withLock { $0 } }

    /// A function that returns the current time, as engines take it.
    public var now: @Sendable () -> Date { { self.current } }

    /// Advances the clock.
    ///
    /// - Parameter seconds: The number of seconds; negative to set the clock back.
    public func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }

    /// Sets the clock.
    ///
    /// - Parameter date: The new time.
    public func set(to date: Date) { self.date.withLock { $0 = date } }
}
