/// What happens in a simulation.
package struct SimulationOptions: Sendable, CustomStringConvertible {
    /// A kind of fault.
    package enum Fault: String, CaseIterable, Sendable {
        case loss, duplication, delay, partition, crash, failover, expiry
        case oldLog, oldReceipts, noReceipts, poison, silence, programs, fewCollections
        /// Clocks of different speeds, which begin elsewhere after a crash.
        case clocks
        /// Other versions of the app after a crash.
        case upgrades
    }

    /// The seed of everything that is random.
    package var seed: UInt64
    /// The number of clients.
    package var clients = 3
    /// The number of operations of all users.
    package var operations = 40
    /// The faults that can happen.
    package var faults = Set(Fault.allCases)
    /// A defect that is planted, to see that it is found.
    package var defect: Defect?

    /// The item whose history is printed, such as `a/k`.
    package var traced: String?

    /// Creates options.
    package init(seed: UInt64) { self.seed = seed }

    package var description: String {
        let faults = faults.map(\.rawValue).sorted().joined(separator: ",")
        let defect = defect.map { " --defect \($0.rawValue)" } ?? ""
        return "--seed \(seed) --clients \(clients) --operations \(operations) --faults \(faults)\(defect)"
    }
}
