import Foundation
import SyncSimulation
import TestSupport
import Testing

@Suite struct SimulationTests {
    private static let parts = 8

    @Test(arguments: 0..<Self.parts)
    func `Replicas agree after faults, and no change is lost or made twice`(_ part: Int) async {
        let count = max(TestSizes.simulations / Self.parts, 1)
        // Other seeds in each run; the sum of a seed and a number must not overflow.
        let first = Seed.current >> 8 + UInt64(part * count)
        for seed in first..<first + UInt64(count) {
            // A simulation waits for nothing, and other tests need the cooperative pool.
            await Task.yield()
            var options = SimulationOptions(seed: seed)
            // The changes of others wake a client up, which can hide that it has missed something.
            if seed % 4 == 0 { (options.clients, options.operations) = (1, 5) }
            let violations = Simulation(options).run()
            if violations.isEmpty { continue }
            let shrunk = options.shrunk()
            let list = Simulation(shrunk).run().joined(separator: "\n")
            Issue.record("bin/simulate \(shrunk)\n\(list)")
            return
        }
    }

    /// Seeds that have failed once, with the faults that it takes.
    private static let failed: [(seed: UInt64, without: Set<SimulationOptions.Fault>)] = [
        // A transaction was parked that was sent beside a refused one, and had waited for a collection to be opened.
        (703_907, [.partition, .silence, .upgrades]),
        // A change waited for one of its transaction that another program had taken back, and was not looked at again.
        (1_018_417, [.partition, .failover, .silence]),
        // A late copy of a request was applied, which a pull had shown, and what replaced it was overwritten.
        (3_055_101, [.partition, .failover, .upgrades]),
    ]

    @Test(arguments: failed.indices)
    func `A course of events that has failed once does not again`(_ number: Int) {
        var options = SimulationOptions(seed: Self.failed[number].seed)
        options.faults.subtract(Self.failed[number].without)
        #expect(Simulation(options).run().isEmpty, "bin/simulate \(options)")
    }

    @Test(arguments: Defect.allCases)
    func `A simulation finds a defect`(_ defect: Defect) {
        var options = defect.example
        #expect(!Simulation(options).run().isEmpty, "bin/simulate \(options)")
        options.defect = nil
        #expect(Simulation(options).run().isEmpty, "bin/simulate \(options)")
    }

    @Test func `Equal seeds give equal simulations`() {
        let options = Defect.ownWritesRevert.example
        #expect(Simulation(options).run() == Simulation(options).run())
    }

    @Test func `A failing simulation is made smaller`() {
        let options = Defect.noConditions.example
        let shrunk = options.shrunk()
        #expect(!Simulation(shrunk).run().isEmpty)
        #expect(shrunk.operations < options.operations)
        #expect(shrunk.faults.count < options.faults.count)
    }
}
