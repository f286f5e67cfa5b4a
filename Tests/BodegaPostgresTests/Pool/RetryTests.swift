#if Postgres
import Bodega
import Testing

@testable import BodegaPostgres

/// A clock that returns from sleeps immediately and records their durations.
private final class PatientClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let pauses = Locked<[Duration]>([])
    var now: Instant { Instant(offset: pauses.withLock { $0.reduce(.zero, +) }) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let pause = now.duration(to: deadline)
        pauses.withLock { $0.append(pause) }
    }
}

@Suite struct RetryTests {

    @Test func `Pauses double up to a limit, and are at least half of their maximum`() {
        var longest = Backoff(first: .milliseconds(10), longest: .milliseconds(50), random: { 1 })
        #expect((0..<4).map { _ in longest.next() } == [10, 20, 40, 50].map { .milliseconds($0) })
        var shortest = Backoff(first: .milliseconds(10), longest: .milliseconds(50), random: { 0 })
        #expect((0..<4).map { _ in shortest.next() } == [5, 10, 20, 25].map { .milliseconds($0) })
    }

    @Test(arguments: ["40001", "40P01", "55P03", "57P01", "57P03", "08006", "53300", "57P05", "25P03", "25P04"])
    func `A transient failure is retried`(code: String) async throws {
        let clock = PatientClock()
        let retries = Retries(clock: clock, hasSeveralHosts: false)
        let attempts = try await retries.untilDone(by: .after(60)) { attempt in
            if attempt < 5 { throw PostgresFailure(.refused(code: code), "") }
            return attempt
        }
        #expect(attempts == 5)
        #expect(clock.pauses.withLock { $0.count } == 5)
    }

    @Test(arguments: ["23514", "42501", "25006", "53100", "57014", "57P04"])
    func `A permanent failure is not retried`(code: String) async throws {
        let retries = Retries(clock: PatientClock(), hasSeveralHosts: false)
        let failure = await #expect(throws: PostgresFailure.self) {
            try await retries.untilDone(by: .after(60)) { attempt in
                #expect(attempt == 0)
                throw PostgresFailure(.refused(code: code), "")
            }
        }
        #expect(failure?.code == code)
    }

    @Test func `Retries end at the deadline`() async throws {
        let retries = Retries(clock: PatientClock(), hasSeveralHosts: false)
        await #expect(throws: PostgresFailure.self) {
            try await retries.untilDone(by: .after(0)) { _ in throw PostgresFailure(.connectionLost, "") }
        }
    }

    @Test func `A server that became a standby is replaced by another host`() async throws {
        let retries = Retries(clock: PatientClock(), hasSeveralHosts: true)
        let attempts = try await retries.untilDone(by: .after(60)) { attempt in
            if attempt == 0 { throw PostgresFailure(.refused(code: "25006"), "") }
            return attempt
        }
        #expect(attempts == 1)
    }
}
#endif
