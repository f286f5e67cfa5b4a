import Bodega

/// A gate at which calls wait until the test opens it: a delay without a clock.
///
/// ```swift
/// let gate = StorageGate()
/// let engine = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [.hold(.writes, at: gate)])
/// async let write: Void = engine.write(data, key: key)
/// await gate.waitForArrivals(1)   // the write has begun and waits
/// gate.release()
/// try await write
/// ```
public final class StorageGate: Sendable {

    private struct State {
        var isOpen: Bool
        var nextTicket = 0
        var arrivals = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    /// Creates a gate.
    ///
    /// - Parameter isOpen: Whether calls pass immediately; by default they wait.
    public init(isOpen: Bool = false) { state = Locked(State(isOpen: isOpen)) }

    /// The number of calls that have reached the gate so far, including those that have passed it.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Closes the gate: calls that reach it from now on wait.
    public func hold() { state.withLock { $0.isOpen = false } }

    /// Opens the gate: waiting and future calls pass.
    public func release() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until a number of calls have reached the gate since its creation.
    ///
    /// - Parameter count: The number of calls.
    public func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Reaches the gate and waits while it is closed.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public func pass() async throws {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in arrive(ticket, continuation) }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(throwing: CancellationError())
        }
    }

    private func arrive(_ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let (result, watchers) = state.withLock { state -> (Result<Void, any Error>?, _) in
            state.arrivals += 1
            let arrivals = state.arrivals
            let watchers = state.watchers.filter { $0.count <= arrivals }
            state.watchers.removeAll { $0.count <= arrivals }
            // The task may have been cancelled before its call arrives.
            if Task.isCancelled { return (.failure(CancellationError()), watchers) }
            if state.isOpen { return (.success(()), watchers) }
            state.waiting[ticket] = continuation
            return (nil, watchers)
        }
        if let result { continuation.resume(with: result) }
        for watcher in watchers { watcher.continuation.resume() }
    }
}
