import BenchHarness
import CSync
import Foundation

/// Processor time.
enum ProcessorTime {
    /// That of all threads of this process so far.
    static func ofProcess() throws -> Duration {
        let time = bench_processor_nanoseconds()
        guard time >= 0 else { throw VerificationFailure("the processor time is unknown: \(errno)") }
        return .nanoseconds(time)
    }
}
