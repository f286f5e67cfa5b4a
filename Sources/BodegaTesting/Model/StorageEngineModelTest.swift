import Bodega
import Foundation

/// A test that performs thousands of random operations on an engine and compares all its results with a plain model.
///
/// All operations depend only on a seed. At the first difference the test throws a ``Failure`` with the seed, the step
/// and the operation; the same seed reproduces it.
///
/// ```swift
/// let seed = StorageEngineModelTest.seedFromEnvironment() ?? .random(in: 0 ... .max)
/// print("EMPORIUM_SEED=\(seed)")
/// try await StorageEngineModelTest(configuration, seed: seed).run()
/// ```
public struct StorageEngineModelTest: Sendable, CustomStringConvertible {

    /// The engine and its capabilities.
    public let configuration: StorageEngineConformance.Configuration

    /// The seed of the operations.
    public let seed: UInt64

    /// The number of operations.
    public let steps: Int

    /// Describes a test.
    ///
    /// - Parameters:
    ///   - configuration: The engine and its capabilities. The test reopens a persistent engine from time to time.
    ///   - seed: The seed of the operations.
    ///   - steps: The number of operations.
    public init(_ configuration: StorageEngineConformance.Configuration, seed: UInt64, steps: Int = 2_000) {
        self.configuration = configuration
        self.seed = seed
        self.steps = steps
    }

    /// The seed in the environment.
    ///
    /// - Parameter name: The environment variable that holds it, in decimal digits.
    /// - Returns: The seed, or `nil` if the variable is not set or holds something else.
    public static func seedFromEnvironment(_ name: String = "EMPORIUM_SEED") -> UInt64? {
        SeededGenerator.seedFromEnvironment(name)
    }

    /// The engine, the seed and the number of steps.
    public var description: String { "\(configuration.name), seed \(seed), \(steps) steps" }

    /// Runs the test.
    ///
    /// - Throws: A ``Failure`` at the first difference, or `CancellationError`.
    public func run() async throws {
        let examination = Examination(of: configuration, in: .init(), check: "the model and the engine agree")
        var run = Run(test: self, examination: examination)
        if let failure = try await examination.run("the step", { try await run.allSteps() }) {
            throw Failure(
                engine: configuration.name, seed: seed, step: run.number, operation: run.step.description,
                violations: failure.violations)
        }
    }

    /// The first difference between an engine and the model.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The name of the engine.
        public var engine: String
        /// The seed of the operations.
        public var seed: UInt64
        /// The number of the operation, counted from 1.
        public var step: Int
        /// The operation.
        public var operation: String
        /// The differences.
        public var violations: [ConformanceFailure.Violation]

        /// All of it, one difference on each line.
        public var description: String {
            "\(engine) differs from the model (seed \(seed), step \(step): \(operation)):"
                + violations.map { "\n- \($0)" }.joined()
        }
    }
}

private struct Run {

    let test: StorageEngineModelTest
    let examination: Examination
    var number = 0
    var step = ModelStep.reopen
    private var model = StorageEngineModel()
    private var generator: ModelStepGenerator

    init(test: StorageEngineModelTest, examination: Examination) {
        self.test = test
        self.examination = examination
        generator = ModelStepGenerator(seed: test.seed, test.configuration)
    }

    mutating func allSteps() async throws {
        while number < test.steps, examination.failure == nil { try await stepsOfOneSession() }
    }

    /// Opens the engine and performs steps until it has to be reopened.
    private mutating func stepsOfOneSession() async throws {
        let engine = try await test.configuration.makeEngine(examination.workspace)
        if number > 0 { try await compareAll(engine) }
        while number < test.steps, examination.failure == nil {
            try Task.checkCancellation()
            // An engine that never suspends would keep other tests from running.
            await Task.yield()
            number += 1
            examination.clock.advance(by: generator.nextPause())
            step = generator.nextStep()
            if case .reopen = step { return }
            try await perform(engine)
        }
        // Changes in the last steps may not have been read yet.
        if examination.failure == nil { try await compareAll(engine) }
    }

    private mutating func perform(_ engine: any StorageEngine) async throws {
        switch step {
        case .write(let key, let data): try await engine.write(data, key: key)
        case .writeItems(let items): try await engine.write(items)
        case .remove(let key): try await engine.remove(key: key)
        case .removeKeys(let keys): try await engine.remove(keys: keys)
        case .removeAll: try await engine.removeAllData()
        case .apply(let operations): try await engine.apply(operations)
        case .readOne(let key):
            try await examination.expectItem(of: engine, key, model.entry(key)?.data, "in the model")
        case .readKeys(let keys):
            try await examination.expectItems(of: engine, keys: keys, model.items(keys), "in the model")
        case .readAll: try await compareAll(engine)
        case .readDates(let key): try await compareDates(engine, key)
        case .reopen: break
        }
        model.apply(step.operations, at: examination.clock.current)
    }

    private func compareAll(_ engine: any StorageEngine) async throws {
        try await examination.expectState(of: engine, model.items, "in the model")
        for entry in model.entries { try await compareDates(engine, entry.key) }
    }

    private func compareDates(_ engine: any StorageEngine, _ key: CacheKey) async throws {
        guard examination.promises(.injectedClock) else { return }
        let (actual, expected) = (try await engine.fetchDates(key: key), model.entry(key)?.dates)
        examination.expectDate(actual?.createdAt, expected?.createdAt, "createdAt of \(described(key))")
        examination.expectDate(actual?.updatedAt, expected?.updatedAt, "updatedAt of \(described(key))")
    }
}
