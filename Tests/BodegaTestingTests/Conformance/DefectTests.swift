import Bodega
import Foundation
import Testing

@testable import BodegaTesting

@Suite struct `Every check can fail` {

    /// An engine with a defect, whose storage outlives it.
    static func configuration(_ defect: Defect?) -> StorageEngineConformance.Configuration {
        let storages = Locked<[String: DefectiveStorageEngine.Storage]>([:])
        let storage: @Sendable (StorageEngineConformance.Workspace) -> DefectiveStorageEngine.Storage = { workspace in
            storages.withLock { storages in
                let storage = storages[workspace.identifier] ?? .init(clock: workspace.clock)
                storages[workspace.identifier] = storage
                return storage
            }
        }
        var configuration = StorageEngineConformance.Configuration(defect?.rawValue ?? "without a defect") {
            workspace in
            try await DefectiveStorageEngine(storage(workspace), defect: defect)
        }
        configuration.refuseOperation = { _, _ in DefectiveStorageEngine.refused }
        configuration.breakStorage = { _, workspace in storage(workspace).state.withLock { $0.isBroken = true } }
        configuration.openCollection = { engine, name in
            let engine = try #require(engine as? DefectiveStorageEngine)
            return try await DefectiveStorageEngine(
                engine.storage.collection(engine.name(ofCollection: name)), defect: defect)
        }
        configuration.discard = { workspace in storages.withLock { $0[workspace.identifier] = nil } }
        configuration.largestValue = 1 << 20
        configuration.largestBatch = 40_000
        return configuration
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration(nil)))
    func `The engine passes without a defect`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: Defect.allCases)
    func `Each defect is found by its check`(_ defect: Defect) async throws {
        let failure = try await expectFailure(of: defect.check, Self.configuration(defect))
        #expect(failure.engine == defect.rawValue)
        #expect(failure.violations.count <= 20)
    }

    @Test(arguments: RequestDefect.allCases)
    func `Each defect of requests is found by its check`(_ defect: RequestDefect) async throws {
        let configuration = StorageEngineConformance.Configuration(defect.rawValue) { workspace in
            DefectiveRequests(storage: MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
        _ = try await expectFailure(of: defect.check, configuration)
    }

    @Test(arguments: TransactionDefect.allCases)
    func `Each defect of transactions is found by its check`(_ defect: TransactionDefect) async throws {
        let configuration = StorageEngineConformance.Configuration(defect.rawValue) { workspace in
            DefectiveTransactions(MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
        _ = try await expectFailure(of: defect.check, configuration)
    }

    @Test(arguments: ReferenceDefect.allCases)
    func `Each defect of references is found by its check`(_ defect: ReferenceDefect) async throws {
        var configuration = StorageEngineConformance.Configuration(defect.rawValue) { workspace in
            DefectiveReferences(base: MemoryStorageEngine(now: workspace.clock.now), defect: defect)
        }
        configuration.openCollection = { engine, name in
            let base = try #require((engine as? DefectiveReferences)?.base as? MemoryStorageEngine)
            return DefectiveReferences(base: base.collection(named: name), defect: defect)
        }
        _ = try await expectFailure(of: defect.check, configuration)
    }

    @Test(arguments: StorageEngineConformance.Check.transactions)
    func `A database passes without a defect`(_ check: StorageEngineConformance.Check) async throws {
        let configuration = StorageEngineConformance.Configuration("without a defect") { workspace in
            DefectiveTransactions(MemoryStorageEngine(now: workspace.clock.now), defect: nil)
        }
        try await StorageEngineConformance.Case(check: check, configuration: configuration).run()
    }

    @Test func `A report shows the key that an engine can't store, with invisible characters escaped`() async throws {
        let failure = try await expectFailure(of: .readingFormsAgree, Self.configuration(.truncatesKeysAtNul))
        #expect(failure.description.contains("hashed:\"\\u{0301}\\0caf\\u{00E9}\""))
        let long = described(text: String(repeating: "x", count: 10_000) + "e\u{301}")
        #expect(long.hasPrefix("\"xxx") && long.hasSuffix("xxe\\u{0301}\" (10003 bytes)") && long.utf8.count < 200)
    }

    @Test func `A configuration can have other texts`() async throws {
        var configuration = Self.configuration(.truncatesKeysAtNul)
        configuration.keyTexts = ["one", "two"]
        try await StorageEngineConformance.Case(check: .readingFormsAgree, configuration: configuration).run()
        configuration.keyTexts = []
        try await StorageEngineConformance.Case(check: .itemsComeInInsertionOrder, configuration: configuration).run()
        configuration.capabilities.remove(.exactKeys)
        try await StorageEngineModelTest(configuration, seed: 2, steps: 200).run()
    }

    @Test func `There is a defect for each check`() {
        let checks = Defect.allCases.map(\.check) + RequestDefect.allCases.map(\.check)
        let others = FeedDefect.allCases.map(\.check) + QueryDefect.allCases.map(\.check)
        let transactions = TransactionDefect.allCases.map(\.check) + ReferenceDefect.allCases.map(\.check)
        let searches = SearchDefect.allCases.map(\.check)
        #expect(Set(checks + others + transactions + searches) == Set(StorageEngineConformance.Check.allCases))
    }

    @Test func `The names of checks are unique`() {
        let names = StorageEngineConformance.Check.allCases.map(\.name)
        #expect(Set(names).count == names.count)
    }

    /// Defects that sequential random operations on single keys can reveal.
    static let metByOperations: [Defect] = [
        .keepsTheTailOfLongerValues, .firstDuplicateWins, .sortsByKey, .overwritingMovesToTheEnd, .remembersThePlace,
        .readsInStoredOrder, .answersDuplicatesOnce, .removesBeforeWriting, .removesAllFirst, .losesKinds,
        .takesRawValuesForKeys, .takesValuesForKeys, .ignoresCase, .resetsCreatedAt, .batchesResetCreatedAt,
        .remembersCreatedAt, .forgetsAtReopening, .losesKindsAtReopening, .roundsDatesAtReopening, .sortsAtReopening,
        .removeAllKeepsTheLast, .removesTheNeighbor, .throwsForAbsentItems, .forgetsEmptyValues,
    ]

    @Test(arguments: metByOperations)
    func `The model test finds a defect, twice at the same step`(_ defect: Defect) async throws {
        let test = StorageEngineModelTest(Self.configuration(defect), seed: 2, steps: 3_000)
        let failure = try #require(await #expect(throws: StorageEngineModelTest.Failure.self) { try await test.run() })
        #expect(failure.seed == 2)
        #expect(failure.description.contains("seed 2, step \(failure.step): \(failure.operation)"))
        let again = try #require(await #expect(throws: StorageEngineModelTest.Failure.self) { try await test.run() })
        #expect(again.step == failure.step)
        #expect(again.operation == failure.operation)
    }

    @Test func `The model test passes without a defect`() async throws {
        try await StorageEngineModelTest(Self.configuration(nil), seed: 2, steps: 3_000).run()
    }
}

/// Expects that an engine fails a check, and that the report names no other contract.
func expectFailure(
    of check: StorageEngineConformance.Check,
    _ configuration: StorageEngineConformance.Configuration
) async throws -> ConformanceFailure {
    let check = StorageEngineConformance.Case(check: check, configuration: configuration)
    let failure = try #require(await #expect(throws: ConformanceFailure.self) { try await check.run() })
    #expect(!failure.violations.isEmpty && failure.violations.allSatisfy { $0.contract == check.check.name })
    return failure
}
