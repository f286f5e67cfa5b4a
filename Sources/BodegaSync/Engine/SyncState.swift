import Bodega
import Foundation
import Observation

/// The state of a synchronization as it is shown.
final class SyncState: Sendable {
    private struct Content: Sendable {
        var status: SyncStatus
        var updates: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var outcomes: [Int: AsyncStream<SyncOutcome>.Continuation] = [:]
        var lastListener = 0
        /// The number of pulls that have begun.
        var pulls = 0
        /// The number of the last one that has succeeded.
        var lastPull = 0
        /// How often a pull was of another remote database than the one before.
        var replacements = 0
        /// The transactions that run, and the number of the last one that has begun.
        var running: Set<Int> = []
        var lastTransaction = 0
        /// The last transaction at the time of the last call of ``countAfterOthers()``.
        var lastKnown = 0
        var isCounting = false
        /// Whether the outbox is counted in a second.
        var countsLater = false
        /// Whether the outbox must be counted, because others may have changed it.
        var mustCount = false
        /// Whether there can be parked changes that are not counted.
        var mustCountParked = true
        /// Why the last attempt to count has failed.
        var failure: SyncFailure?
        /// Those who wait for the end of all transactions up to one.
        var waiting: [(last: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// Whether the listeners don't have the status yet.
        var hasNews = false
        /// Whether a thread passes the status on.
        var isPassingOn = false
        weak var owner: StorageSync?
    }

    /// The number of records that are read to count those that are parked, though nothing says that it has changed.
    private static let few = 256

    private let outbox: OutboxStorage
    private let content: Locked<Content>
    private let registrar = ObservationRegistrar()

    init(_ outbox: OutboxStorage, isPaused: Bool) {
        self.outbox = outbox
        content = Locked(Content(status: SyncStatus(isPaused: isPaused)))
    }

    /// The state, as a property of an object that may be observed.
    func status(for owner: StorageSync) -> SyncStatus {
        registrar.access(owner, keyPath: \.status)
        return content.withLock { content in
            content.owner = owner
            return content.status
        }
    }

    /// The number of pulls that have begun.
    var pulls: Int { content.withLock { $0.pulls } }

    /// The number of the last pull that has succeeded.
    var lastPull: Int { content.withLock { $0.lastPull } }

    /// How often a pull was of another remote database than the one before.
    var replacements: Int { content.withLock { $0.replacements } }

    /// Counts a pull of another remote database. What that lacks is in the outbox.
    func countReplacement() { content.withLock { $0.replacements += 1 } }

    func update(_ change: @Sendable (inout SyncStatus) -> Void) { set { change(&$0.status) } }

    private func set(_ change: @Sendable (inout Content) -> Void) {
        func set() {
            content.withLock { content in
                let old = content.status
                change(&content)
                if content.status != old { content.hasNews = true }
            }
        }
        if let owner = content.withLock({ $0.owner }) {
            registrar.withMutation(of: owner, keyPath: \.status) { set() }
        } else {
            set()
        }
        passOn()
    }

    /// Passes the status on to the listeners, without the lock: to wake a task, Swift takes a lock of that task, which
    /// it holds when it ends the streams of a task that is cancelled.
    private func passOn() {
        var mayBegin = true
        while true {
            let news = content.withLock { [mayBegin] content -> (SyncStatus, [AsyncStream<SyncStatus>.Continuation])? in
                // One thread at a time, so that the last status comes last.
                if mayBegin, content.isPassingOn { return nil }
                content.isPassingOn = content.hasNews
                guard content.hasNews else { return nil }
                content.hasNews = false
                return (content.status, Array(content.updates.values))
            }
            guard let (status, listeners) = news else { return }
            for listener in listeners { listener.yield(status) }
            mayBegin = false
        }
    }

    func take(_ report: SyncReport) {
        switch report {
        case .pulling: content.withLock { $0.pulls += 1 }
        case .reached(let date, let failure):
            // Pulls don't overlap.
            content.withLock { $0.lastPull = $0.pulls }
            update { ($0.lastSuccess, $0.failure, $0.needsCredentials) = (date, failure, false) }
            refresh()
        case .failed(let failure): update { $0.failure = failure }
        case .needsCredentials(let isNeeded): update { $0.needsCredentials = isNeeded }
        }
    }

    // MARK: Counting

    /// Begins with the number of changes that the outbox has.
    func begin() async throws {
        let count = try await outbox.records.fetchCount()
        update { $0.pending = count }
        refresh()
    }

    /// Counts what others may have changed in the outbox.
    private func refresh() {
        content.withLock { $0.mustCount = true }
        countIfPossible()
    }

    /// Counts the outbox after a signal of a change, unless this program has made it.
    func countAfterOthers() {
        let isOwn = content.withLock { content in
            defer { content.lastKnown = content.lastTransaction }
            return content.lastKnown != content.lastTransaction
        }
        if isOwn { refreshLater() } else { refresh() }
    }

    /// Counts in a second, because others can have changed the outbox between transactions of this program.
    private func refreshLater() {
        let isNext = content.withLock { content in
            defer { content.countsLater = true }
            return !content.countsLater
        }
        guard isNext else { return }
        Task { [weak self] in
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            self?.content.withLock { $0.countsLater = false }
            self?.refresh()
        }
    }

    /// Runs a transaction of this program. When the call returns, its changes are counted, and their outcomes are
    /// passed on.
    ///
    /// - Parameter body: Returns what the transaction has changed in the outbox.
    func counting<Value>(_ body: () async throws -> (value: Value, change: OutboxChange)) async throws -> Value {
        let number = content.withLock { content in
            content.lastTransaction += 1
            content.running.insert(content.lastTransaction)
            return content.lastTransaction
        }
        do {
            let (value, change) = try await body()
            end(number, change)
            return value
        } catch {
            // It may have been applied.
            content.withLock { ($0.mustCount, $0.mustCountParked) = (true, true) }
            end(number, OutboxChange())
            throw error
        }
    }

    private func end(_ number: Int, _ change: OutboxChange) {
        if !change.outcomes.isEmpty {
            let listeners = content.withLock { $0.outcomes.values.map { $0 } }
            for listener in listeners { for outcome in change.outcomes { listener.yield(outcome) } }
        }
        if (change.pending, change.parked) != (0, 0) {
            update { status in
                status.pending = max(status.pending + change.pending, 0)
                status.parked = max(status.parked + change.parked, 0)
            }
        }
        let ready = content.withLock { content in
            content.running.remove(number)
            let first = content.running.min() ?? .max
            defer { content.waiting.removeAll { $0.last < first } }
            return content.waiting.filter { $0.last < first }.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
        countIfPossible()
    }

    /// Waits for the end of the transactions that run, so that they are counted and their outcomes passed on.
    func counted() async {
        await withCheckedContinuation { continuation in
            let mustWait = content.withLock { content in
                if content.running.isEmpty { return false }
                content.waiting.append((content.lastTransaction, continuation))
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Counts if it is necessary, as soon as no transaction runs.
    private func countIfPossible() {
        let start = content.withLock { content -> Int? in
            if !content.mustCount || content.isCounting || !content.running.isEmpty { return nil }
            (content.mustCount, content.isCounting) = (false, true)
            return content.lastTransaction
        }
        if let start { Task { await count(after: start) } }
    }

    /// - Parameter start: The last transaction that had begun when none was running.
    private func count(after start: Int) async {
        let (mustCountParked, known) = content.withLock { content in
            (content.mustCountParked, content.status.pending + content.status.parked)
        }
        do {
            let count = try await outbox.records.fetchCount()
            // To count those that are parked, all are read; not if a transaction of this program explains the number.
            // Few are read in any case: another program may have parked one, which does not change the number.
            let isUnexplained = count != known && content.withLock { $0.lastTransaction == start }
            let mustCount = mustCountParked || isUnexplained || 1...Self.few ~= count
            let parked = mustCount ? try await outbox.countParked() : nil
            set { content in
                if let failure = content.failure.take(), content.status.failure == failure {
                    content.status.failure = nil
                }
                // A transaction that has begun in the meantime may be contained, or not.
                guard content.lastTransaction == start else { return content.mustCount = true }
                if let parked { (content.status.parked, content.mustCountParked) = (parked, false) }
                content.status.pending = max(count - content.status.parked, 0)
            }
        } catch {
            let failure = SyncFailure(error)
            set { ($0.status.failure, $0.failure) = (failure, failure) }
        }
        content.withLock { $0.isCounting = false }
        countIfPossible()
    }

    // MARK: Listening

    /// Ends all streams.
    func finish() {
        let (updates, outcomes) = content.withLock { content in
            defer { (content.updates, content.outcomes) = ([:], [:]) }
            return (content.updates, content.outcomes)
        }
        for listener in updates.values { listener.finish() }
        for listener in outcomes.values { listener.finish() }
    }

    func updates() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream<SyncStatus>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = content.withLock { content in
            content.lastListener += 1
            content.updates[content.lastListener] = continuation
            continuation.yield(content.status)
            return content.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            let removed = self?.content.withLock { $0.updates.removeValue(forKey: number) }
            _ = removed
        }
        return stream
    }

    func outcomes() -> AsyncStream<SyncOutcome> {
        let (stream, continuation) = AsyncStream<SyncOutcome>.makeStream()
        let number = content.withLock { content in
            content.lastListener += 1
            content.outcomes[content.lastListener] = continuation
            return content.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            let removed = self?.content.withLock { $0.outcomes.removeValue(forKey: number) }
            _ = removed
        }
        return stream
    }
}
