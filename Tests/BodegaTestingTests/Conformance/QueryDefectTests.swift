import Bodega
import BodegaTesting
import Testing

@Suite struct `Every check of queries can fail` {

    /// An engine with a defect.
    static func configuration(_ defect: QueryDefect?) -> StorageEngineConformance.Configuration {
        StorageEngineConformance.Configuration(
            defect?.rawValue ?? "without a defect", capabilities: [.all, .indexed]
        ) { workspace in
            DefectiveQueries(MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
    }

    @Test(arguments: StorageEngineConformance.queryChecks(for: configuration(nil)))
    func `The engine passes without a defect`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: QueryDefect.allCases)
    func `Each defect is found by its check`(_ defect: QueryDefect) async throws {
        _ = try await expectFailure(of: defect.check, Self.configuration(defect))
    }

    @Test func `There is a defect for each check`() {
        #expect(Set(QueryDefect.allCases.map(\.check)) == Set(StorageEngineConformance.Check.queries))
    }

    @Test func `An engine that promises no indexes may refuse them`() async throws {
        var configuration = Self.configuration(.refusesIndexes)
        configuration.capabilities.remove(.indexed)
        for check in StorageEngineConformance.queryChecks(for: configuration) { try await check.run() }
        // Indexes that exist are checked nevertheless.
        configuration = Self.configuration(.reversesTies)
        configuration.capabilities.remove(.indexed)
        _ = try await expectFailure(of: .rangesComeInOrderOfTheirKeys, configuration)
    }

    @Test func `An engine without queries does not pass`() async throws {
        let configuration = StorageEngineConformance.Configuration("no queries") { workspace in
            FaultInjectingStorageEngine(MemoryStorageEngine(now: workspace.clock.now))
        }
        for check in StorageEngineConformance.queryChecks(for: configuration) {
            await #expect(throws: ConformanceFailure.self) { try await check.run() }
        }
    }
}
