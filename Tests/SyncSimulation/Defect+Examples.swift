extension Defect {
    /// Options in which the defect is found.
    package var example: SimulationOptions {
        let (seed, faults) = found
        var options = SimulationOptions(seed: seed)
        // The clocks and the upgrades are later than the seeds.
        options.faults = faults ?? options.faults.subtracting([.clocks, .upgrades])
        options.defect = self
        return options
    }

    /// The first seed that was found for the defect, and the faults if not all can happen.
    private var found: (seed: UInt64, faults: Set<SimulationOptions.Fault>?) {
        switch self {
        case .appliedTwice, .noConditions, .seam: (2, nil)
        case .lossesNotReported, .snapshotKeepsRemoved: (3, nil)
        case .requestsOfOthersForgotten, .requestsOfOthersWait: (4, nil)
        case .parkedHoldsUpOthers, .timersForgotten: (7, nil)
        case .newIdentifierOnRepetition: (26, nil)
        case .logNotSearched: (26, nil)
        case .unreadNotTakenOver: (19, nil)
        case .cursorBeforeItems: (74, nil)
        case .sentBeforePull: (982, nil)
        case .pullsOverlap: (720, nil)
        case .notFenced: (19, [.delay, .duplication, .loss, .failover, .partition, .silence])
        case .reconnectionIsNoSignal: (31, [.loss])
        case .conflictsForgotten: (62_353_759_985_809_246, nil)
        case .halfSettled: (447, nil)
        case .voidReceiptsIgnored: (1_675, nil)
        default: (1, nil)
        }
    }
}
