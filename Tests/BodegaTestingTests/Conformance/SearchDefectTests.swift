import Bodega
import BodegaTesting
import Testing

@Suite struct `Every check of searches can fail` {

    /// An engine with a defect.
    static func configuration(_ defect: SearchDefect?) -> StorageEngineConformance.Configuration {
        StorageEngineConformance.Configuration(
            defect?.rawValue ?? "without a defect", capabilities: .all.subtracting(.persistent)
        ) { workspace in
            DefectiveSearches(MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
    }

    @Test(arguments: StorageEngineConformance.Check.searches)
    func `The engine passes without a defect`(_ check: StorageEngineConformance.Check) async throws {
        let cases = StorageEngineConformance.checks(for: Self.configuration(nil)).filter { $0.check == check }
        try #require(cases.count == 1)
        try await cases[0].run()
    }

    @Test(arguments: SearchDefect.allCases)
    func `Each defect is found by its check`(_ defect: SearchDefect) async throws {
        _ = try await expectFailure(of: defect.check, Self.configuration(defect))
    }

    @Test func `There is a defect for each check`() {
        #expect(Set(SearchDefect.allCases.map(\.check)) == Set(StorageEngineConformance.Check.searches))
    }
}
