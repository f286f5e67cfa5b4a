import Bodega
import BodegaTesting

/// Random faults of the calls of an engine, and what became of its writes.
final class RandomFaults: Sendable {
    enum Fate: CaseIterable { case succeed, fail, failAfterwards, cancel, cancelAfterwards, stall }

    private struct State {
        var generator: SeededGenerator
        /// The number of calls among a hundred that fail.
        var percent = 0
        var wasApplied = false
        var whileStalled: (@Sendable () async -> Void)?
    }

    /// Whether the calls of the current task are spared.
    @TaskLocal static var areSuspended = false

    private let state: Locked<State>

    init(seed: UInt64) { state = Locked(State(generator: SeededGenerator(seed: seed))) }

    /// The number of calls among a hundred that fail.
    var percent: Int {
        get { state.withLock { $0.percent } }
        set { state.withLock { $0.percent = newValue } }
    }

    /// Whether a write was applied since the beginning of a step.
    var wasApplied: Bool { state.withLock { $0.wasApplied } }

    /// Begins a step.
    ///
    /// - Parameter whileStalled: What happens while a call of the step stalls.
    func begin(whileStalled: @escaping @Sendable () async -> Void) {
        state.withLock { ($0.wasApplied, $0.whileStalled) = (false, whileStalled) }
    }

    private func nextFate(isWrite: Bool) -> (Fate, StorageError) {
        state.withLock { state in
            guard !Self.areSuspended, Int.random(in: 0..<100, using: &state.generator) < state.percent else {
                return (.succeed, StorageFault.defaultError as? StorageError ?? StorageError(.inputOutput, ""))
            }
            let fate = Fate.allCases.randomElement(using: &state.generator) ?? .fail
            var codes: [StorageError.Code] = [.unreachable, .timedOut, .inputOutput]
            // An engine that finds a lock has applied nothing.
            if fate == .fail { codes.append(.locked) }
            return (fate, StorageError(codes.randomElement(using: &state.generator) ?? .inputOutput, "A random fault."))
        }
    }

    func call<Value>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let (fate, error) = nextFate(isWrite: call.isWrite)
        switch fate {
        case .fail: throw error
        case .cancel:
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        case .stall: await state.withLock { $0.whileStalled }?()
        case .succeed, .failAfterwards, .cancelAfterwards: break
        }
        let value = try await body()
        if call.isWrite, (value.value as? BatchOutcome)?.wasApplied ?? true, !Self.areSuspended {
            state.withLock { $0.wasApplied = true }
        }
        switch fate {
        case .failAfterwards: throw error
        case .cancelAfterwards:
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        case .succeed, .fail, .cancel, .stall: return value
        }
    }
}

/// An engine with random faults and without a change feed, so that a seed determines all calls.
struct RandomlyFailingEngine: ForwardingStorageEngine {
    let base: any StorageBackend
    let faults: RandomFaults

    var log: (any StorageLog)? { nil }

    func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        try await faults.call(call, body)
    }
}
