import Bodega
import BodegaTesting
import Foundation
import Testing

/// An engine as a user may have written it for the first version of the protocol, with only its requirements.
actor ReferenceEngine: StorageEngine {

    private struct Entry {
        var data: Data
        var createdAt: Date
        var updatedAt: Date
    }

    private var entries: [CacheKey: Entry] = [:]

    func write(_ data: Data, key: CacheKey) async throws {
        let now = Date()
        entries[key] = Entry(data: data, createdAt: entries[key]?.createdAt ?? now, updatedAt: now)
    }

    func write(_ dataAndKeys: [(key: CacheKey, data: Data)]) async throws {
        for item in dataAndKeys { try await write(item.data, key: item.key) }
    }

    func read(key: CacheKey) async -> Data? { entries[key]?.data }

    func readDataAndKeys(keys: [CacheKey]) async -> [(key: CacheKey, data: Data)] {
        keys.compactMap { key in entries[key].map { (key, $0.data) } }
    }

    func remove(key: CacheKey) async throws { entries[key] = nil }

    func removeAllData() async throws { entries = [:] }

    func keyExists(_ key: CacheKey) async -> Bool { entries[key] != nil }

    func allKeys() async -> [CacheKey] { Array(entries.keys) }

    func createdAt(key: CacheKey) async -> Date? { entries[key]?.createdAt }

    func updatedAt(key: CacheKey) async -> Date? { entries[key]?.updatedAt }
}

@Suite struct `An engine written against the first protocol` {

    static let configuration = StorageEngineConformance.Configuration(
        "ReferenceEngine",
        capabilities: .exactKeys
    ) { _ in ReferenceEngine() }

    @Test(arguments: StorageEngineConformance.checks(for: configuration))
    func `conforms to what it promises`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test func `is not checked for capabilities that it doesn't promise`() {
        let skipped = StorageEngineConformance.skippedChecks(for: Self.configuration)
        #expect(skipped.contains(.overwritingKeepsThePlace))
        #expect(skipped.contains(.failedBatchesChangeNothing))
        #expect(!skipped.contains(.keysComeBackEqual))
    }

    @Test func `agrees with the model in any order`() async throws {
        try await StorageEngineModelTest(Self.configuration, seed: 5).run()
    }

    @Test func `fails with the missing contracts when it promises too much`() async throws {
        var configuration = Self.configuration
        configuration.capabilities = [.exactKeys, .ordered]
        configuration.largestBatch = 10
        configuration.largestValue = 10
        let failure = try #require(
            await #expect(throws: ConformanceFailure.self) {
                try await StorageEngineConformance.verify(configuration)
            }
        )
        let contracts = Set(failure.violations.map(\.contract))
        #expect(contracts.contains(StorageEngineConformance.Check.itemsComeInInsertionOrder.name))
        #expect(!contracts.contains(StorageEngineConformance.Check.absentItemsAreAbsent.name))
        #expect(failure.description.hasPrefix("ReferenceEngine violates the contracts"))
    }
}
