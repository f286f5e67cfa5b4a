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
        var isCounting = false
        var mustCount = false
        /// Whether there can be parked changes that are not counted.
        var mustCountParked = true
        weak var owner: StorageSync?
    }

    private let work: SyncWork
    private let content: Locked<Content>
    private let registrar = ObservationRegistrar()

    init(_ work: SyncWork, isPaused: Bool) {
        self.work = work
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

    /// Whether changes are parked.
    var hasParked: Bool { content.withLock { $0.status.parked > 0 } }

    /// The number of pulls that have begun.
    var pulls: Int { content.withLock { $0.pulls } }

    /// The number of the last pull that has succeeded.
    var lastPull: Int { content.withLock { $0.lastPull } }

    func update(_ change: @Sendable (inout SyncStatus) -> Void) {
        let owner = content.withLock { $0.owner }
        guard let owner else { return set(change) }
        registrar.withMutation(of: owner, keyPath: \.status) { set(change) }
    }

    private func set(_ change: (inout SyncStatus) -> Void) {
        content.withLock { content in
            change(&content.status)
            for listener in content.updates.values { listener.yield(content.status) }
        }
    }

    func take(_ report: SyncReport) {
        switch report {
        case .pulling: content.withLock { $0.pulls += 1 }
        case .reached(let date):
            // Pulls don't overlap.
            content.withLock { $0.lastPull = $0.pulls }
            update { ($0.lastSuccess, $0.failure, $0.needsCredentials) = (date, nil, false) }
            refresh(withParked: content.withLock { $0.status.parked > 0 })
        case .failed(let failure): update { $0.failure = failure }
        case .needsCredentials(let isNeeded): update { $0.needsCredentials = isNeeded }
        case .outcomes(let outcomes):
            let listeners = content.withLock { $0.outcomes.values.map { $0 } }
            for listener in listeners { for outcome in outcomes { listener.yield(outcome) } }
            let isRefused = outcomes.contains { if case .refused = $0.kind { true } else { false } }
            if isRefused { refresh(withParked: true) }
        }
    }

    /// Counts the changes in the outbox, once for all calls in the meantime.
    ///
    /// - Parameter withParked: Whether other changes may be parked than before. To count them, all changes are read.
    func refresh(withParked: Bool = false) {
        let mayCount = content.withLock { content in
            content.mustCount = true
            content.mustCountParked = content.mustCountParked || withParked
            defer { content.isCounting = true }
            return !content.isCounting
        }
        if mayCount { Task { await count() } }
    }

    private func count() async {
        while content.withLock({ content in
            defer { content.mustCount = false }
            if !content.mustCount { content.isCounting = false }
            return content.mustCount
        }) {
            do {
                let mustCountParked = content.withLock { content in
                    defer { content.mustCountParked = false }
                    return content.mustCountParked
                }
                let known = content.withLock { $0.status.parked }
                let parked = mustCountParked ? try await work.outbox.countParked() : known
                let pending = max(try await work.outbox.records.fetchCount() - parked, 0)
                update { ($0.pending, $0.parked) = (pending, parked) }
            } catch {
                content.withLock { $0.mustCountParked = true }
                let failure = SyncFailure(error)
                update { $0.failure = failure }
            }
        }
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
