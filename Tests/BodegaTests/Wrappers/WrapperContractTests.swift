import Bodega
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Every engine in wrappers passes the conformance suite, of which each run takes a sample.
struct WrapperContractTests {
    typealias Configuration = StorageEngineConformance.Configuration

    private static let engines = [Engines.memory, Engines.relaxedSQLite, Engines.relaxedDisk].map(withSmallBatches)

    /// Random engines in each wrapper, and in random nestings of three. ``TestSizes/slice`` runs all nestings of three
    /// instead, also those that repeat a wrapper.
    static let configurations: [Configuration] = {
        let triples = Wrapper.all.flatMap { first in
            Wrapper.all.flatMap { second in Wrapper.all.map { [first, second, $0] } }
        }
        if let slice = TestSizes.slice {
            let all = engines.flatMap { engine in triples.map { nested($0, in: engine) } }
            let singles = engines.flatMap { engine in Wrapper.all.map { $0.wrap(engine) } }
            let numbers = slice.split(separator: "/").compactMap { Int($0) }
            guard numbers.count == 2, (1...max(1, numbers[1])).contains(numbers[0]) else { return singles + all }
            return stride(from: numbers[0] - 1, to: all.count, by: numbers[1]).map { all[$0] }
        }
        var generator = SeededGenerator(seed: Seed.current)
        print("nestings of wrappers: EMPORIUM_SEED=\(Seed.current)")
        let singles = Wrapper.all.flatMap { wrapper in
            engines.shuffled(using: &generator).prefix(TestSizes.wrappedEngines).map { wrapper.wrap($0) }
        }
        let nestings = (0..<TestSizes.triples).map { number in
            nested(triples.randomElement(using: &generator) ?? [], in: engines[number % engines.count])
        }
        return singles + nestings
    }()

    private static func nested(_ wrappers: [Wrapper], in engine: Configuration) -> Configuration {
        wrappers.reduce(engine) { $1.wrap($0) }
    }

    private static func withSmallBatches(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.largestBatch = 2_000
        configuration.largestValue = 1 << 20
        return configuration
    }

    private static let checks = TestSizes.sample(
        configurations.flatMap { configuration in
            StorageEngineConformance.checks(for: configuration).filter { check in
                !configuration.name.contains(Wrapper.scoped.name) || !needsWholeHistory(check.check)
            }
        })

    /// The log of a scope does not report an item that has come and gone before someone has read the log, and its
    /// cursors end with the engine. `ScopedStorageEngineTests` check what its readers see.
    private static func needsWholeHistory(_ check: StorageEngineConformance.Check) -> Bool {
        let checks: [StorageEngineConformance.Check] = [
            .changesComeInOrder, .snapshotsFitTheirCursors, .changedItemsFitTheirChanges, .cursorsSurviveReopening,
        ]
        return checks.contains { $0.name == check.name }
    }

    @Test(arguments: checks)
    func `An engine in wrappers passes the suite`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    /// The checks of queries on each wrapper, because the engines above are a random choice.
    private static let queries = TestSizes.sample(
        engines.filter { !$0.name.hasPrefix("disk") }.flatMap { engine in
            Wrapper.all.flatMap { wrapper in
                StorageEngineConformance.Check.queries.map { check in
                    StorageEngineConformance.Case(check: check, configuration: wrapper.wrap(engine))
                }
            }
        })

    @Test(arguments: queries)
    func `The queries of an engine in a wrapper pass their checks`(_ check: StorageEngineConformance.Case) async throws
    {
        try await check.run()
    }

    @Test(
        arguments: configurations.map {
            StorageEngineModelTest($0, seed: Seed.current, steps: TestSizes.wrappedModelSteps)
        })
    func `An engine in wrappers and a dictionary agree`(_ test: StorageEngineModelTest) async throws {
        try await test.run()
    }

    @Test func `Wrappers have the capabilities of their base and no others`() throws {
        let all = MemoryStorageEngine()
        let none = PlainEngine(all)
        for wrapper in Wrapper.all {
            let workspace = StorageEngineConformance.Workspace()
            let (rich, poor) = (wrapper.wrap(all, in: workspace), wrapper.wrap(none, in: workspace))
            #expect(capabilities(of: rich) == [true, true, true, true], "\(wrapper)")
            #expect(capabilities(of: poor) == [false, false, false, false], "\(wrapper)")
        }
    }

    private func capabilities(of engine: any StorageEngine) -> [Bool] {
        let (backend, traits) = (engine.backend, engine.backend.traits)
        return [
            traits.contains(.dated), traits.contains(.conditional), backend.log != nil,
            traits.contains(.stablePositions),
        ]
    }
}
