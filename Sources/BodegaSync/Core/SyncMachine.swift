import Foundation

/// Decides what synchronization does next. It is a pure value: no input or output, no clock, and no randomness but that
/// of its seed.
///
///     outbox ──► prepare ──► send ──► answer ──┐
///                  ▲                           ▼
///     remote log ──┼─────────────────────────► pull ──► settles the answers that came before it began
///                  └──────────── what is left ◄┘
///
/// 1. Sending and pulling are independent lanes. Neither waits for the other.
/// 2. ``Effect/prepare(limit:)`` takes changes from the outbox for a request, in one transaction.
/// 3. ``Effect/send(_:)`` sends it. Without an answer it is sent again: it has one effect, however often it is sent.
///    While a request takes long, others are sent.
/// 4. ``Effect/pull(settling:)`` reads what has changed, and ends the requests that were answered before. Only then are
///    their items' versions known, so that no older version is shown in between.
/// 5. A request that is refused is divided, until an item is alone, and parked. So is one that is never answered while
///    others are: it is fenced first, so that it will never be applied. While no others are answered, its items rest.
/// 6. A request of another program is sent, too, if it stays without an outcome: the program may have ended.
/// 7. After a failure, each lane waits: a random time up to a limit that doubles.
package struct SyncMachine: Sendable {

    private struct Request: Sendable {
        enum State: Sendable {
            case sending(since: Duration)
            case waiting(until: Duration)
            case fencing
            case answered(SyncAnswer)
            case settling(SyncAnswer)
        }

        var state: State
        /// Whether another program has begun it, and may still send it.
        var isOthers = false
        /// The failures in a row, for the delay.
        var failures = 0
        var firstFailure, lastFailure: Duration?
        /// Whether it was sent again after others had been answered since its first failure.
        var hasWitness = false
        /// The failures while the remote database could be reached.
        var suspicions = 0
        /// Whether the last answer was that it can't be applied now.
        var isPostponed = false
        var error: SyncFailure?

        /// When it was sent, if others wait for it.
        var startOfPatience: Duration? {
            guard case .sending(let since) = state, suspicions == 0 else { return nil }
            return since
        }
    }

    private let limits: Limits
    private var random: RandomNumbers
    private var isPaused = true
    private var requests: [UUID: Request] = [:]
    private var order: [UUID] = []
    private var isPreparing = false
    private var hasChanges = false
    /// When the outbox is looked through again after a change.
    private var lookAgain: Duration?
    private var push = Lane()
    private var isPulling = false
    private var needsPull = false
    private var pull = Lane()
    private var lastPull: Duration?
    /// The wait after pulls that could not read everything.
    private var incomplete = Lane()
    /// The wait after conflicts in a row.
    private var conflicts = Lane()
    /// When a request was answered last.
    private var lastAnswer: Duration?
    /// The rest of items that were not answered while no others were; `nil` if there are none.
    private var rest: (until: Duration, error: SyncFailure)?
    private var authorization = Authorization.valid
    /// Whether nothing was accepted since the app has given credentials.
    private var isUnproven = false
    /// How often credentials were not accepted that the app had just given.
    private var rejections = 0

    /// Creates a machine that is paused.
    ///
    /// - Parameters:
    ///   - seed: The seed of the delays.
    ///   - limits: The times and numbers.
    package init(seed: UInt64, limits: Limits = Limits()) {
        (self.limits, random) = (limits, RandomNumbers(state: seed))
    }

    /// Takes in what has happened, and returns what is to be done.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - now: The time since some moment, which never goes back.
    package mutating func step(_ event: Event, now: Duration) -> [Effect] {
        handle(event, now)
        return isPaused ? [] : effects(now)
    }

    /// Whether requests have no outcome yet.
    package var hasRequests: Bool { !requests.isEmpty }

    /// Why a request waits although the remote database can be reached, if one does.
    package var hindrance: SyncFailure? {
        for id in order {
            guard let request = requests[id], request.isPostponed || request.suspicions > 0 else { continue }
            switch request.state {
            case .sending, .waiting, .fencing: return request.error
            case .answered, .settling: break
            }
        }
        return rest?.error
    }
}

// Events.
extension SyncMachine {

    private mutating func handle(_ event: Event, _ now: Duration) {
        switch event {
        case .resume(let requests):
            isPaused = false
            for request in requests {
                // It may have been one of another program for as long as not all of its collections were open.
                if self.requests[request.id]?.isOthers == true { remove(request.id) }
                add(request.id, .waiting(until: now))
            }
            (hasChanges, needsPull) = (true, true)
        case .pause: isPaused = true
        case .hurry: hurry(now)
        case .outboxChanged:
            // Another program may end after it has begun a request.
            (hasChanges, lookAgain) = (true, now + limits.otherPatience)
        case .remoteChanged: needsPull = true
        case .prepared(let id, let all, let waits):
            isPreparing = false
            if waits { lookAgain = lookAgain ?? now + limits.waitingPatience }
            for request in all where request.id != id {
                add(request.id, .waiting(until: now + limits.otherPatience), isOthers: true)
            }
            // Changes that were made since the look at the outbox have been noted.
            guard let id else { break }
            // There may be more, or the next look finds that there are none.
            hasChanges = true
            add(id, .waiting(until: now))
        case .answered(let id, let answer):
            lastAnswer = now
            if rest != nil { rest?.until = now }
            take(answer, of: id, now)
        case .unanswered(let id, let failure): take(failure, of: id, now)
        case .fenced(let id, let wasApplied):
            guard let request = requests[id] else { break }
            if wasApplied { return take(.applied, of: id, now) }
            let error = request.error ?? SyncFailure(code: "timedOut", message: "There was no answer.")
            if !request.hasWitness { rest = (now + limits.rest, error) }
            take(.unanswered(error, others: request.hasWitness), of: id, now)
        case .pulled(let missing):
            isPulling = false
            accept()
            (pull, lastPull) = (Lane(), now)
            if let missing {
                incomplete.failures += 1
                incomplete.notBefore = now + delay(after: incomplete.failures, missing)
            } else {
                incomplete = Lane()
            }
            for (id, request) in requests {
                if case .settling = request.state { remove(id) }
            }
            // Something may be left of what was not applied, or may wait for what was.
            hasChanges = true
            recover(now)
        case .pullFailed(let failure):
            isPulling = false
            needsPull = true
            for (id, request) in requests {
                if case .settling(let answer) = request.state { requests[id]?.state = .answered(answer) }
            }
            fail(\.pull, failure, now)
        case .storageFailed(.preparing, let failure):
            isPreparing = false
            hasChanges = true
            fail(\.push, failure, now)
        case .storageFailed(.pulling, let failure): handle(.pullFailed(failure), now)
        case .reauthorized(let hasCredentials):
            authorization = hasCredentials ? .valid : .refused(until: now + limits.maximumDelay)
            isUnproven = hasCredentials
            if hasCredentials { hurry(now) }
        case .elapsed: break
        }
    }

    private mutating func hurry(_ now: Duration) {
        switch authorization {
        case .refused, .rejected: authorization = .valid
        case .valid, .missing, .asking: break
        }
        (push, pull, conflicts) = (Lane(), Lane(), Lane())
        (hasChanges, needsPull) = (true, true)
        if rest != nil { rest?.until = now }
        for (id, request) in requests where !request.isOthers {
            requests[id]?.isPostponed = false
            // Also one that fails while others don't, and for which a server has asked to wait.
            if case .waiting = request.state { requests[id]?.state = .waiting(until: now) }
        }
    }

    /// Ends the waits of sending, because the remote database can be reached.
    private mutating func recover(_ now: Duration) {
        push = Lane()
        for (id, request) in requests {
            // One that fails while others don't keeps waiting.
            guard case .waiting = request.state, request.suspicions == 0, !request.isOthers, !request.isPostponed else {
                continue
            }
            requests[id]?.state = .waiting(until: now)
        }
    }

    private mutating func take(_ answer: SyncAnswer, of id: UUID, _ now: Duration) {
        guard let request = requests[id] else { return }
        switch request.state {
        case .answered, .settling: return
        case .sending, .waiting, .fencing: break
        }
        requests[id]?.state = .answered(answer)
        accept()
        push = Lane()
        switch answer {
        case .applied: conflicts = Lane()
        case .conflict:
            conflicts.failures += 1
            // A service that never says what is in the way is not asked without end.
            if conflicts.failures > limits.maximumConflicts {
                conflicts.notBefore = now + limits.firstDelay * random.fraction()
            }
        case .refused, .unanswered: break
        }
        // The remote database can be reached.
        pull.notBefore = min(pull.notBefore, now)
        needsPull = true
    }

    private mutating func take(_ failure: Failure, of id: UUID, _ now: Duration) {
        guard let request = requests[id] else { return }
        var start = now
        if case .sending(let since) = request.state { start = since }
        // The remote database has answered since, but not to this request.
        let isSuspicious = !failure.isPostponed && lastPull.map { $0 >= request.lastFailure ?? start } ?? false
        requests[id]?.isPostponed = failure.isPostponed
        requests[id]?.lastFailure = now
        requests[id]?.firstFailure = request.firstFailure ?? now
        requests[id]?.failures += 1
        requests[id]?.error = failure.error
        if isSuspicious {
            requests[id]?.suspicions += 1
        } else {
            fail(\.push, failure, now)
        }
        let delay = delay(after: requests[id]?.failures ?? 1, failure)
        requests[id]?.state = .waiting(until: now + delay)
        if failure.isUnauthorized { authorize(after: failure, now) }
        // A pull finds out whether the remote database can be reached.
        needsPull = true
    }

    private mutating func fail(_ lane: WritableKeyPath<SyncMachine, Lane>, _ failure: Failure, _ now: Duration) {
        self[keyPath: lane].failures += 1
        let delay = delay(after: self[keyPath: lane].failures, failure)
        self[keyPath: lane].notBefore = now + delay
        if failure.isUnauthorized { authorize(after: failure, now) }
    }

    private mutating func authorize(after failure: Failure, _ now: Duration) {
        guard case .valid = authorization else { return }
        if isUnproven {
            rejections += 1
            authorization = .rejected(until: now + delay(after: rejections, failure))
        } else {
            authorization = .missing
        }
    }

    /// Takes note that the remote database has accepted the credentials.
    private mutating func accept() { (isUnproven, rejections) = (false, 0) }

    /// A random delay after a number of failures: "full jitter" in M. Brooker, Exponential Backoff and Jitter, AWS
    /// Architecture Blog, 2015.
    private mutating func delay(after failures: Int, _ failure: Failure) -> Duration {
        var limit = limits.firstDelay
        let maximum = failure.isOvertaken ? limits.maximumOvertakenDelay : limits.maximumDelay
        for _ in 1..<max(failures, 1) where limit < maximum { limit *= 2 }
        // A server that names a date instead of seconds, for example, would be left alone for years.
        let asked = min(failure.retryAfter ?? .zero, limits.maximumRetryAfter)
        return asked + min(limit, maximum) * random.fraction()
    }

    private mutating func add(_ id: UUID, _ state: Request.State, isOthers: Bool = false) {
        guard requests[id] == nil else { return }
        requests[id] = Request(state: state, isOthers: isOthers)
        order.append(id)
    }

    private mutating func remove(_ id: UUID) {
        requests[id] = nil
        order.removeAll { $0 == id }
    }
}

// Effects.
extension SyncMachine {

    private mutating func effects(_ now: Duration) -> [Effect] {
        var (effects, next): ([Effect], Duration?) = ([], nil)
        func wait(until time: Duration) { next = min(next ?? time, time) }
        switch authorization {
        case .valid: break
        case .asking: return []
        case .missing:
            authorization = .asking
            return [.reauthorize]
        case .refused(let until) where until <= now:
            // They may be accepted again, or be others without a call of the app.
            authorization = .valid
        case .rejected(let until) where until <= now:
            authorization = .asking
            return [.reauthorize]
        case .refused(let until), .rejected(let until): return [.wait(until: until)]
        }
        for id in order {
            guard let request = requests[id], case .waiting(let until) = request.state else { continue }
            let start = request.suspicions == 0 ? max(until, push.notBefore) : until
            if start > now {
                wait(until: start)
            } else if request.suspicions >= limits.maximumFailures {
                requests[id]?.state = .fencing
                effects.append(.fence(id))
            } else if sendingCount < limits.maximumRequests {
                requests[id]?.state = .sending(since: now)
                requests[id]?.isOthers = false
                if let failure = request.firstFailure, let lastAnswer, lastAnswer > failure {
                    requests[id]?.hasWitness = true
                }
                effects.append(.send(id))
            }
        }
        if let time = lookAgain {
            if time <= now { (hasChanges, lookAgain) = (true, nil) } else { wait(until: time) }
        }
        if let rest {
            if rest.until <= now { hasChanges = true } else { wait(until: rest.until) }
        }
        if hasChanges, !isPreparing {
            // A request that takes long must not hold up others.
            let free = order.compactMap { requests[$0]?.startOfPatience }.max().map { $0 + limits.patience } ?? now
            let start = max(free, push.notBefore, conflicts.notBefore)
            let own = requests.values.count { !$0.isOthers }
            if own >= 2 * limits.maximumRequests || sendingCount >= limits.maximumRequests {
                // The next answer or pull makes space.
            } else if start > now {
                wait(until: start)
            } else {
                (isPreparing, hasChanges) = (true, false)
                let wakes = rest.map { $0.until <= now } ?? false
                if wakes { rest = nil }
                effects.append(.prepare(limit: limits.maximumGroups, waking: wakes))
            }
        }
        var poll = limits.pollInterval.map { (lastPull ?? now) + $0 }
        if incomplete.failures > 0 { poll = min(poll ?? incomplete.notBefore, incomplete.notBefore) }
        if let poll, poll <= now { needsPull = true }
        if !isPulling {
            if needsPull, pull.notBefore <= now {
                (isPulling, needsPull) = (true, false)
                var answers: [UUID: SyncAnswer] = [:]
                for (id, request) in requests {
                    guard case .answered(let answer) = request.state else { continue }
                    answers[id] = answer
                    requests[id]?.state = .settling(answer)
                }
                effects.append(.pull(settling: answers))
            } else if needsPull {
                wait(until: pull.notBefore)
            } else if let poll {
                wait(until: poll)
            }
        }
        if let next { effects.append(.wait(until: next)) }
        return effects
    }

    private var sendingCount: Int {
        requests.values.count { request in
            switch request.state {
            case .sending, .fencing: true
            default: false
            }
        }
    }
}
