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
        case .appliedTwice, .seam, .editDuringUploadLost: (2, nil)
        case .lossesNotReported: (3, nil)
        case .answersOfPullsReordered: (5, nil)
        case .parkedHoldsUpOthers: (7, nil)
        case .newIdentifierOnRepetition: (12, nil)
        case .pullsOverlap, .logNotSearched: (19, nil)
        case .snapshotKeepsRemoved: (40, nil)
        case .cursorBeforeItems: (160, nil)
        case .sentBeforePull: (242, nil)
        case .notFenced: (467, nil)
        case .reconnectionIsNoSignal: (3, [.loss])
        case .voidReceiptsIgnored: (2_323, [.delay, .duplication, .loss])
        default: (1, nil)
        }
    }
}
