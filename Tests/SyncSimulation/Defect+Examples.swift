extension Defect {
    /// Options in which the defect is found.
    package var example: SimulationOptions {
        let (seed, faults) = found
        var options = SimulationOptions(seed: seed)
        if let faults { options.faults = faults }
        options.defect = self
        return options
    }

    /// The first seed that finds the defect, and the faults if not all can happen.
    private var found: (seed: UInt64, faults: Set<SimulationOptions.Fault>?) {
        switch self {
        case .cursorBeforeItems: (13, nil)
        case .logNotSearched: (19, nil)
        case .sentBeforePull: (327, nil)
        case .snapshotKeepsRemoved, .removalsIgnored, .lossesNotReported: (3, nil)
        case .timersForgotten: (4, nil)
        case .parkedHoldsUpOthers: (6, nil)
        case .discardedStaysVisible: (68, nil)
        case .pullsOverlap: (183, nil)
        case .notFenced: (58, nil)
        case .voidReceiptsIgnored: (876, nil)
        case .reconnectionIsNoSignal: (109, [.loss])
        default: (1, nil)
        }
    }
}
