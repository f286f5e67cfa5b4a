import Bodega

/// What ``FaultInjectingStorageEngine`` does to which calls.
///
/// A fault counts the calls of its operations from one, separately from other faults, and is told by its
/// ``Occurrence`` which of them it concerns.
public struct StorageFault: Sendable {

    /// Which of the matching calls a fault concerns.
    public enum Occurrence: Sendable, Hashable {
        /// Each.
        case every
        /// The n-th only, counted from 1.
        case number(Int)
        /// The n-th, counted from 1, and all later ones.
        case from(Int)

        func includes(_ number: Int) -> Bool {
            switch self {
            case .every: true
            case .number(let wanted): number == wanted
            case .from(let first): number >= first
            }
        }
    }

    /// What happens to a call.
    enum Effect: Sendable {
        case fail(any Error)
        case tear(applied: Int, any Error)
        case failAfterwards(any Error)
        case hold(StorageGate)
    }

    let operations: Set<StorageEngineCall.Operation>
    let occurrence: Occurrence
    let effect: Effect

    /// The error that faults throw unless told otherwise.
    public static var defaultError: any Error {
        StorageError(.inputOutput, "This failure was injected by a test.")
    }

    /// Fails calls before they do anything.
    ///
    /// - Parameters:
    ///   - operations: The calls that count.
    ///   - occurrence: Which of them fail.
    ///   - error: The error to throw.
    public static func fail(
        _ operations: Set<StorageEngineCall.Operation>,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .fail(error))
    }

    /// Tears batches: applies the first part of one, then fails, as an engine without atomic batches may.
    ///
    /// Of the other calls, single writes and removals count as batches of one, and those that have no parts fail before
    /// they do anything.
    ///
    /// - Parameters:
    ///   - operations: The calls that count.
    ///   - applied: How many of the batch's operations are applied; all if it has fewer.
    ///   - occurrence: Which of the calls are torn.
    ///   - error: The error to throw.
    public static func tear(
        _ operations: Set<StorageEngineCall.Operation> = .batches,
        afterFirst applied: Int,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .tear(applied: applied, error))
    }

    /// Fails calls after they did everything, as when the answer of a server is lost.
    ///
    /// - Parameters:
    ///   - operations: The calls that count.
    ///   - occurrence: Which of them fail.
    ///   - error: The error to throw.
    public static func failAfterwards(
        _ operations: Set<StorageEngineCall.Operation>,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .failAfterwards(error))
    }

    /// Delays calls: they wait at a gate before they do anything.
    ///
    /// - Parameters:
    ///   - operations: The calls that count.
    ///   - occurrence: Which of them wait.
    ///   - gate: Where they wait.
    public static func hold(
        _ operations: Set<StorageEngineCall.Operation>,
        _ occurrence: Occurrence = .every,
        at gate: StorageGate
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .hold(gate))
    }
}

/// Faults and how many calls each has counted.
struct StorageFaultPlan: Sendable {

    /// What is in store for one call.
    struct Fate: Sendable {
        var gates: [StorageGate] = []
        /// The first failing fault in the order of the plan; faults behind it count the call all the same.
        var failure: StorageFault.Effect?
    }

    private var faults: [(fault: StorageFault, count: Int)] = []

    mutating func add(_ fault: StorageFault) {
        faults.append((fault, 0))
    }

    mutating func removeAll() {
        faults = []
    }

    mutating func fate(of operation: StorageEngineCall.Operation) -> Fate {
        var fate = Fate()
        for index in faults.indices where faults[index].fault.operations.contains(operation) {
            faults[index].count += 1
            let fault = faults[index].fault
            guard fault.occurrence.includes(faults[index].count) else { continue }
            if case .hold(let gate) = fault.effect {
                fate.gates.append(gate)
            } else if fate.failure == nil {
                fate.failure = fault.effect
            }
        }
        return fate
    }
}
