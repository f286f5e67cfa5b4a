import Bodega
import BodegaTesting
import Testing

@Suite struct `Every check of queries can fail` {

    /// An engine with a defect.
    static func configuration(_ defect: QueryDefect?) -> StorageEngineConformance.Configuration {
        StorageEngineConformance.Configuration(
            defect?.rawValue ?? "without a defect", capabilities: .all.subtracting(.persistent)
        ) { workspace in
            DefectiveQueries(MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration(nil)))
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
}
