extension SimulationOptions {
    /// Options with fewer operations, clients and faults in which something is wrong, too.
    package func shrunk() -> SimulationOptions {
        var best = self
        while let smaller = best.smaller.first(where: { !Simulation($0).run().isEmpty }) { best = smaller }
        return best
    }

    private var smaller: [SimulationOptions] {
        var options: [SimulationOptions] = []
        func add(_ change: (inout SimulationOptions) -> Void) {
            var smaller = self
            change(&smaller)
            options.append(smaller)
        }
        for fault in Fault.allCases where faults.contains(fault) { add { $0.faults.remove(fault) } }
        if operations > 1 {
            add { $0.operations /= 2 }
            add { $0.operations -= 1 }
        }
        if clients > 2 { add { $0.clients -= 1 } }
        return options
    }
}
