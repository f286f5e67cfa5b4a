import Bodega
import Foundation
import Testing

@testable import BodegaSync

/// Single rules of the machine. The simulation tests it as a whole.
@Suite struct SyncMachineTests {

    /// The time at which each effect of a minute begins, if the remote database accepts no credentials.
    ///
    /// - Parameters:
    ///   - hasCredentials: Whether the app gives some when it is asked.
    ///   - accepts: Whether they are accepted, from the time and the number of times that the app was asked.
    private func minute(
        hasCredentials: Bool, accepts: (Duration, Int) -> Bool = { _, _ in false }
    ) -> [(effect: SyncMachine.Effect, time: Duration)] {
        let failure = SyncMachine.Failure(SyncFailure(code: "unauthorized", message: ""), isUnauthorized: true)
        var machine = SyncMachine(seed: 1)
        var (log, time): ([(SyncMachine.Effect, Duration)], Duration) = ([], .zero)
        var questions = 0
        var wake: Duration?
        var events: [SyncMachine.Event] = [.resume([])]
        while time <= .seconds(60), log.count < 100_000 {
            if events.isEmpty {
                guard let next = wake else { break }
                (time, wake) = (max(time, next), nil)
                events = [.elapsed]
            }
            for effect in machine.step(events.removeFirst(), now: time) {
                log.append((effect, time))
                switch effect {
                case .prepare: events.append(.prepared(nil, all: [], waits: false))
                case .pull: events.append(accepts(time, questions) ? .pulled(missing: nil) : .pullFailed(failure))
                case .reauthorize:
                    questions += 1
                    events.append(.reauthorized(hasCredentials))
                case .wait(let until): wake = until
                case .send, .fence: Issue.record("There is no request.")
                }
            }
        }
        return log
    }

    private func isQuestion(_ effect: SyncMachine.Effect) -> Bool {
        if case .reauthorize = effect { true } else { false }
    }

    private func isPull(_ effect: SyncMachine.Effect) -> Bool { if case .pull = effect { true } else { false } }

    @Test func `An app whose credentials are never accepted is asked for them after growing delays`() {
        let log = minute(hasCredentials: true)
        let questions = log.count { isQuestion($0.effect) }
        #expect((5...40).contains(questions))
        #expect(log.count { isPull($0.effect) } <= 2 * questions)
        // Nothing is given up.
        #expect(log.contains { isQuestion($0.effect) && $0.time > .seconds(40) })
    }

    @Test func `New credentials that are accepted are used without a delay`() {
        let log = minute(hasCredentials: true) { _, questions in questions > 0 }
        #expect(log.count { isQuestion($0.effect) } == 1)
        #expect(log.count { isPull($0.effect) && $0.time == .zero } == 2)
        let later = minute(hasCredentials: true) { time, _ in time >= .seconds(30) }
        let first = later.first { isPull($0.effect) && $0.time >= .seconds(30) }
        #expect(first.map { $0.time < .seconds(39) } == true)
    }

    @Test func `An app without credentials is asked again after the longest delay`() {
        let times = minute(hasCredentials: false).filter { isQuestion($0.effect) }.map(\.time)
        #expect(times.count >= 7)
        for (first, second) in zip(times, times.dropFirst()) { #expect(second - first >= .seconds(8)) }
    }

    @Test func `A large change is sent alone, and holds up neither smaller ones nor itself`() {
        let items = ["small", "large", "later"].map { SyncItemID(collection: "a", key: CacheKey(verbatim: $0)) }
        var draft = OutboxDraft(newID: { UUID() }) { MergeResult(data: $0.local) }
        for (item, size) in zip(items, [10, 1_000, 10]) { draft.write([(item, Data(count: size))], asOne: false) }
        let requests = (0..<2).map { _ in draft.take(items, upTo: 10, maximumBytes: 100)?.changes.map(\.item) }
        #expect(requests == [[items[0], items[2]], [items[1]]])
        #expect(draft.take(items, upTo: 10, maximumBytes: 100) == nil)
    }
}
