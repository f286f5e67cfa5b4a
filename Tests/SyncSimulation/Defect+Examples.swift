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
        case .answersOfPullsReordered, .appliedTwice, .seam, .editDuringUploadLost, .editReplacesSent: (2, nil)
        case .lossesNotReported: (3, nil)
        case .timersForgotten, .parkedHoldsUpOthers: (7, nil)
        case .snapshotKeepsRemoved: (42, nil)
        case .cursorBeforeItems: (80, nil)
        case .requestsOfOthersForgotten: (147, nil)
        case .pullsOverlap: (163, nil)
        case .sentBeforePull: (327, nil)
        case .notFenced: (839, nil)
        case .reconnectionIsNoSignal: (31, [.loss])
        case .voidReceiptsIgnored: (2_323, [.delay, .duplication, .loss])
        default: (1, nil)
        }
    }
}
