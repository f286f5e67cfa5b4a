public import Bodega

/// A fault that ``FaultInjectingStorageEngine`` injects into some calls.
///
/// A fault counts its operations' calls from one, apart from other faults. Its ``Occurrence`` says which it affects.
public struct StorageFault: Sendable {

    /// The matching calls that a fault affects.
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

    enum Effect: Sendable {
        case fail(any Error)
        case tear(applied: Int, any Error)
        case failAfterwards(any Error)
        case hold(StorageGate)
    }

    let operations: Set<StorageCall.Operation>
    let occurrence: Occurrence
    let effect: Effect

    /// The default error of faults.
    public static var defaultError: any Error {
        StorageError(.inputOutput, "This failure was injected by a test.")
    }

    /// Fails calls before they have any effect.
    ///
    /// - Parameters:
    ///   - operations: The calls that the fault counts.
    ///   - occurrence: The calls that fail.
    ///   - error: The error to throw.
    public static func fail(
        _ operations: Set<StorageCall.Operation>,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .fail(error))
    }

    /// Tears batches: applies the first part of one, then fails, as an engine without atomic batches may.
    ///
    /// Single writes and removals are batches of one. Calls without parts fail before they have any effect.
    ///
    /// - Parameters:
    ///   - operations: The calls that the fault counts.
    ///   - applied: The number of the batch's operations that are applied; all if it has fewer.
    ///   - occurrence: The calls that are torn.
    ///   - error: The error to throw.
    public static func tear(
        _ operations: Set<StorageCall.Operation> = .batches,
        afterFirst applied: Int,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .tear(applied: applied, error))
    }

    /// Fails calls after they have taken effect, as when a server's response is lost.
    ///
    /// - Parameters:
    ///   - operations: The calls that the fault counts.
    ///   - occurrence: The calls that fail.
    ///   - error: The error to throw.
    public static func failAfterwards(
        _ operations: Set<StorageCall.Operation>,
        _ occurrence: Occurrence = .every,
        with error: any Error = defaultError
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .failAfterwards(error))
    }

    /// Delays calls: they wait at a gate before they have any effect.
    ///
    /// - Parameters:
    ///   - operations: The calls that the fault counts.
    ///   - occurrence: The calls that wait.
    ///   - gate: The gate at which they wait.
    public static func hold(
        _ operations: Set<StorageCall.Operation>,
        _ occurrence: Occurrence = .every,
        at gate: StorageGate
    ) -> StorageFault {
        StorageFault(operations: operations, occurrence: occurrence, effect: .hold(gate))
    }
}

/// The faults and the number of calls that each has counted.
struct StorageFaultPlan: Sendable {

    /// The effects of the plan on one call.
    struct Fate: Sendable {
        var gates: [StorageGate] = []
        /// The first failing fault in the order of the plan. Later faults still count the call.
        var failure: StorageFault.Effect?
    }

    private var faults: [(fault: StorageFault, count: Int)] = []

    mutating func add(_ fault: StorageFault) { faults.append((fault, 0)) }

    mutating func removeAll() { faults = [] }

    mutating func fate(of operation: StorageCall.Operation) -> Fate {
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
