import Bodega
import Foundation
import Logging

/// Carries out the effects of a ``SyncMachine``.
///
///     StorageSync ── outboxChanged, pause, … ──► machine ──► effects ──► a task each ──► event ──► machine …
///     remote.signals ── remoteChanged ─────────────┘                          timer ── elapsed ──┘
///
/// 1. The actor guards the machine. Each event is one synchronous step, so events don't overlap.
/// 2. Each effect is a task, which reports its result as the next event. Tasks are cancelled by ``end()`` only.
/// 3. One timer runs: that of the last ``SyncMachine/Effect/wait(until:)``.
/// 4. The tasks hold the runner, but not the ``StorageSync``, which ends it when it is released.
actor SyncRunner {
    private let work: SyncWork
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let options: SyncOptions
    private let report: @Sendable (SyncReport) -> Void

    private var machine: SyncMachine?
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var lastTask = 0
    /// The task of the last ``SyncMachine/Effect/prepare(limit:)``.
    private var preparation: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var listener: Task<Void, Never>?
    private var early: [SyncMachine.Event] = []
    /// The requests without an outcome that the machine does not know yet.
    private var requests: [SentRequest] = []
    private var hasEnded = false
    /// Why the last preparation has failed.
    private var preparationFailure: SyncFailure?
    private var isPaused: Bool {
        // In the step that pauses or goes on, so that the status is that of the last of two calls.
        didSet { work.state.update { [isPaused] in $0.isPaused = isPaused } }
    }

    init(
        _ work: SyncWork, _ options: SyncOptions, clock: any Clock<Duration>,
        _ report: @escaping @Sendable (SyncReport) -> Void
    ) {
        (self.work, self.options, self.clock, self.report) = (work, options, clock, report)
        elapsed = clock.stopwatch()
        isPaused = options.startsPaused
    }

    /// Begins with the collections that are open.
    func begin() async throws {
        var limits = SyncMachine.Limits()
        limits.maximumDelay = options.maximumDelay
        limits.rest = options.maximumDelay * 8
        if !work.remote.signalsChanges { limits.pollInterval = options.pollInterval }
        if hasEnded { return }
        machine = SyncMachine(seed: .random(in: .min ... .max), limits: limits)
        try await collectionsChanged()
        for event in early { handle(event) }
        early = []
    }

    func end() {
        hasEnded = true
        machine = nil
        for task in tasks.values { task.cancel() }
        timer?.cancel()
        listener?.cancel()
    }

    /// Pauses. What is written after the return of the call is in no request, so that other programs can send it.
    func pause() async {
        isPaused = true
        listener?.cancel()
        listener = nil
        handle(.pause)
        await preparation?.value
    }

    func resume() {
        isPaused = false
        goOn()
    }

    /// Goes on with another set of collections. Without any, there is nothing to do.
    func collectionsChanged() async throws {
        // Those of collections that are not open wait.
        requests = try await work.outbox.fetchPlace().requests.filter(work.collections.contain)
        goOn()
    }

    private func goOn() {
        if isPaused || hasEnded || machine == nil || work.collections.names.isEmpty { return }
        listen()
        handle(.resume(requests))
        requests = []
    }

    private func listen() {
        listener?.cancel()
        let signals = work.signals(of: work.collections.names)
        listener = Task { [weak self] in
            for await event in signals { await self?.takeSignal(event) }
        }
    }

    private func takeSignal(_ event: SyncMachine.Event) {
        if case .outboxChanged = event { work.state.countAfterOthers() }
        handle(event)
    }

    /// Takes in an event, and begins its effects.
    func handle(_ event: SyncMachine.Event) {
        if hasEnded { return }
        guard machine != nil else { return early.append(event) }
        guard let effects = machine?.step(event, now: elapsed()) else { return }
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: SyncMachine.Effect) {
        if case .wait(let until) = effect {
            timer?.cancel()
            timer = Task { [weak self, clock, elapsed] in
                do { try await clock.sleep(for: max(until - elapsed(), .zero)) } catch { return }
                await self?.handle(.elapsed)
            }
            return
        }
        lastTask += 1
        let number = lastTask
        let task = Task {
            let event = await self.result(of: effect)
            self.tasks[number] = nil
            if let event { self.handle(event) }
        }
        tasks[number] = task
        if case .prepare = effect { preparation = task }
    }

    /// Carries out an effect.
    ///
    /// - Returns: The event that answers it; `nil` if the runner has ended.
    private func result(of effect: SyncMachine.Effect) async -> SyncMachine.Event? {
        switch effect {
        case .prepare(let limit, let wakes):
            do {
                let (request, all, waits) = try await work.prepare(limit: limit, waking: wakes)
                // If there is nothing to send, no answer of the remote database ends the failure.
                if let failure = preparationFailure.take() {
                    work.state.update { if $0.failure == failure { $0.failure = nil } }
                }
                return .prepared(request?.id, all: all, waits: waits)
            } catch {
                guard let failure = failed(error) else { return nil }
                preparationFailure = failure.error
                return .storageFailed(.preparing, failure)
            }
        case .send(let id):
            do {
                guard let answer = try await work.send(id) else { return .answered(id, .applied) }
                return .answered(id, answer)
            } catch {
                return failed(error).map { .unanswered(id, $0) }
            }
        case .fence(let id):
            do {
                return .fenced(id, wasApplied: try await work.fence(id))
            } catch {
                return failed(error).map { .unanswered(id, $0) }
            }
        case .pull(let answers):
            report(.pulling)
            do {
                let (missing, unreadable) = try await work.pull(settling: answers)
                if let missing {
                    // The credentials are accepted.
                    report(.needsCredentials(false))
                    return failed(missing).map { .pulled(missing: $0) }
                }
                report(.reached(Date(), unreadable.map { SyncFailure($0) } ?? machine?.hindrance))
                return .pulled(missing: nil)
            } catch {
                return failed(error).map { .pullFailed($0) }
            }
        case .reauthorize:
            report(.needsCredentials(true))
            let hasCredentials = await options.reauthorize()
            if hasCredentials { report(.needsCredentials(false)) }
            return .reauthorized(hasCredentials)
        case .wait: return nil
        }
    }

    private func failed(_ error: any Error) -> SyncMachine.Failure? {
        if hasEnded || error is CancellationError && Task.isCancelled { return nil }
        var failure = SyncMachine.Failure(of: error)
        failure.isOvertaken = error is PullOvertaken
        // The other program goes on.
        if failure.isOvertaken { return failure }
        syncLogger.debug("Synchronization failed. Retrying…", metadata: ["error": "\(error)"])
        if failure.isUnauthorized { report(.needsCredentials(true)) }
        report(.failed(failure.error))
        return failure
    }
}

/// What a runner reports.
enum SyncReport: Sendable {
    /// A pull begins.
    case pulling
    /// Everything that the remote database has was read, but items that can't be.
    case reached(Date, SyncFailure?)
    /// Something has failed, and is tried again.
    case failed(SyncFailure)
    /// Whether the credentials are not accepted.
    case needsCredentials(Bool)
}

let syncLogger = Logger(label: "emporium.sync")

extension SyncMachine.Failure {
    /// The codes of a remote database that can't change anything now.
    private static let postponing: Set<StorageError.Code> = [
        .storageFull, .locked, .suspended, .closed, .placeRemoved, .cannotOpen, .init(rawValue: "rateLimited"),
    ]

    init(of error: any Error) {
        let failure = error as? StorageError
        self.init(
            SyncFailure(error), isUnauthorized: failure?.code == .unauthorized,
            isPostponed: failure.map { Self.postponing.contains($0.code) } ?? false,
            retryAfter: failure?.retryAfter)
    }
}

extension SyncFailure {
    init(_ error: any Error) {
        if let error = error as? StorageError {
            self.init(code: error.code.rawValue, message: error.message)
        } else {
            self.init(code: StorageError.Code.inputOutput.rawValue, message: "\(error)")
        }
    }
}
