import Bodega
import BodegaTesting
import Foundation
import Testing

@Suite struct `Every check of change feeds can fail` {

    /// An engine with a defect, whose storage outlives it.
    static func configuration(_ defect: FeedDefect?) -> StorageEngineConformance.Configuration {
        let storages = Locked<[String: MemoryStorageEngine]>([:])
        var configuration = StorageEngineConformance.Configuration(
            defect?.rawValue ?? "without a defect", capabilities: [.all, .shared]
        ) { workspace in
            let storage = storages.withLock { storages in
                let storage = storages[workspace.identifier] ?? MemoryStorageEngine(now: workspace.clock.now)
                storages[workspace.identifier] = storage
                return storage
            }
            guard defect == .losesItsLogAtReopening else { return DefectiveFeed(storage, defect: defect) }
            return DefectiveFeed(MemoryStorageEngine(items: try await storage.fetchAll()), defect: defect)
        }
        configuration.refuseOperation = { _, _ in DefectiveFeed.refused }
        configuration.discard = { workspace in storages.withLock { $0[workspace.identifier] = nil } }
        if defect != nil { configuration.patience = .seconds(3) }
        return configuration
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration(nil)))
    func `The feed passes without a defect`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: FeedDefect.allCases)
    func `Each defect is found by its check`(_ defect: FeedDefect) async throws {
        _ = try await expectFailure(of: defect.check, Self.configuration(defect))
    }

    @Test func `There is a defect for each check`() {
        #expect(Set(FeedDefect.allCases.map(\.check)) == Set(StorageEngineConformance.Check.changeFeeds))
    }
}
