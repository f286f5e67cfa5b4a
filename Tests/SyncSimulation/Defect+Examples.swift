extension Defect {
    /// Options in which the defect is found.
    package var example: SimulationOptions {
        let (seed, faults) = found
        var options = SimulationOptions(seed: seed)
        if let faults { options.faults = faults }
        options.defect = self
        return options
    }

    /// The seed, and the faults if not all can happen.
    private var found: (UInt64, Set<SimulationOptions.Fault>?) { (1, nil) }
}
