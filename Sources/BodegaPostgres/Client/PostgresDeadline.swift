#if Postgres
import Dispatch
import Foundation

/// A point in time on the monotonic clock.
struct PostgresDeadline: Sendable, Comparable {

    private(set) var nanoseconds: UInt64

    static func after(_ seconds: TimeInterval) -> PostgresDeadline {
        let now = DispatchTime.now().uptimeNanoseconds
        // Limited to about 95 years, because a larger sum could overflow.
        return PostgresDeadline(nanoseconds: now + UInt64(min(max(seconds, 0), 3e9) * 1e9))
    }

    var hasPassed: Bool { DispatchTime.now().uptimeNanoseconds >= nanoseconds }

    /// The seconds until the deadline; 0 once it has passed.
    var remaining: TimeInterval {
        let now = DispatchTime.now().uptimeNanoseconds
        return now >= nanoseconds ? 0 : TimeInterval(nanoseconds - now) / 1e9
    }

    /// The seconds since the deadline; 0 before it has passed.
    var elapsed: TimeInterval {
        let now = DispatchTime.now().uptimeNanoseconds
        return now <= nanoseconds ? 0 : TimeInterval(now - nanoseconds) / 1e9
    }

    var dispatchTime: DispatchTime { DispatchTime(uptimeNanoseconds: nanoseconds) }

    static func < (left: PostgresDeadline, right: PostgresDeadline) -> Bool { left.nanoseconds < right.nanoseconds }
}
#endif
