public import Bodega

/// An engine that forwards calls to another engine and fails, tears or delays some of them according to a plan.
///
/// ```swift
/// let engine = FaultInjectingStorageEngine(MemoryStorageEngine(), faults: [
///     .fail(.writes, .number(3), with: StorageError(.storageFull, "The disk is full.")),
///     .tear(.batches, afterFirst: 1),
/// ])
/// ```
///
/// It can do what the wrapped engine can, and the calls of its log and its indexes can fail, too. Signals of changes
/// are passed on without faults.
///
/// The `fetch…` methods throw the injected errors; the `read…` methods swallow them and return `nil` or nothing, as
/// they do with a real failure. Copies share one plan. If several faults match one call, it waits at all their gates,
/// and then the first failure in the order of the plan takes effect.
public struct FaultInjectingStorageEngine: ForwardingStorageEngine {

    /// The wrapped engine. Direct calls to it bypass the faults.
    public let base: any StorageBackend

    private let plan = Locked(StorageFaultPlan())

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - base: The wrapped engine.
    ///   - faults: The faults of the plan.
    public init(_ base: any StorageEngine, faults: [StorageFault] = []) {
        self.base = base.backend
        for fault in faults { inject(fault) }
    }

    /// Adds a fault to the plan. The fault counts calls from now on.
    ///
    /// - Parameter fault: The fault.
    public func inject(_ fault: StorageFault) { plan.withLock { $0.add(fault) } }

    /// Removes all faults from the plan. Calls that wait at a gate keep waiting.
    public func clearFaults() { plan.withLock { $0.removeAll() } }

    /// Performs a call according to the plan.
    public func forward<Value: StorageAnswerValue>(
        _ call: StorageCall, _ body: () async throws -> StorageAnswer<Value>
    ) async throws -> StorageAnswer<Value> {
        let fate = plan.withLock { $0.fate(of: call.operation) }
        for gate in fate.gates { try await gate.pass() }
        switch fate.failure {
        case nil, .hold:
            return try await body()
        case .fail(let error):
            throw error
        case .tear(let applied, let error):
            // A group of batches is atomic, also where the engine's own are not.
            if applied > 0, case .apply(var batch) = call, batch.group == nil {
                (batch.operations, batch.identifier) = (Array(batch.operations.prefix(applied)), nil)
                _ = try await base.apply(batch)
            }
            throw error
        case .failAfterwards(let error):
            _ = try await body()
            throw error
        }
    }

    /// Those of the wrapped engine, but a change that waits at a gate ends when its task is cancelled.
    public var traits: StorageTraits { base.traits.subtracting(.ignoresCancellation) }
}
