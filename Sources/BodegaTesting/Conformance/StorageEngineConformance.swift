import Bodega

/// The contracts of ``/Bodega/StorageEngine`` as checks that can run on any engine.
///
/// The checks need no test framework. With Swift Testing, each check is a separate test case:
///
/// ```swift
/// @Test(arguments: StorageEngineConformance.checks(for: .init("MyEngine") { workspace in
///     try MyEngine(directory: workspace.directory.url, now: workspace.clock.now)
/// }))
/// func `My engine conforms`(_ check: StorageEngineConformance.Case) async throws {
///     try await check.run()
/// }
/// ```
///
/// In any other program, ``verify(_:)`` runs them all and throws the violations.
public enum StorageEngineConformance {

    /// The checks of an engine. Each uses its own fresh engine, so they can run concurrently.
    ///
    /// Some are about what only some engines can do, and pass on an engine that says that it can't:
    ///
    /// | Checks | Apply to an engine with |
    /// | --- | --- |
    /// | ``Check/changeFeeds`` | a ``/Bodega/StorageBackend/log`` |
    /// | ``Check/conditions`` | the trait ``/Bodega/StorageTraits/conditional`` |
    /// | ``Check/transactions`` | a ``/Bodega/StorageBackend/database`` |
    /// | ``Check/references`` | ``/Bodega/StorageBackend/references`` |
    /// | ``Check/queries`` | the trait ``/Bodega/StorageTraits/stablePositions`` |
    ///
    /// Those of indexes also need ``/Bodega/StorageBackend/indexes``, and pass on an engine that may not create any.
    /// Random checks print their seed; the environment variable `EMPORIUM_SEED` repeats one.
    ///
    /// - Parameter configuration: The engine and its capabilities.
    /// - Returns: The checks that the engine's capabilities require. ``skippedChecks(for:)`` returns the others.
    public static func checks(for configuration: Configuration) -> [Case] {
        Check.allCases.filter(configuration.allows).map { Case(check: $0, configuration: configuration) }
    }

    /// The checks that don't apply to an engine: it lacks the capabilities, or the configuration lacks a closure that
    /// they need, such as ``Configuration/refuseOperation``.
    ///
    /// - Parameter configuration: The engine and its capabilities.
    public static func skippedChecks(for configuration: Configuration) -> [Check] {
        Check.allCases.filter { !configuration.allows($0) }
    }

    /// Runs the checks of ``checks(for:)``, one after another.
    ///
    /// - Parameter configuration: The engine and its capabilities.
    /// - Throws: A ``ConformanceFailure`` with the violations of all checks.
    public static func verify(_ configuration: Configuration) async throws {
        var violations: [ConformanceFailure.Violation] = []
        for check in checks(for: configuration) {
            do {
                try await check.run()
            } catch let failure as ConformanceFailure {
                violations += failure.violations
            }
        }
        if !violations.isEmpty {
            throw ConformanceFailure(engine: configuration.name, violations: violations)
        }
    }

    /// A check together with the engine to check.
    public struct Case: Sendable, Identifiable, CustomStringConvertible {

        /// The check.
        public let check: Check

        /// The engine and its capabilities.
        public let configuration: Configuration

        /// Pairs a check with an engine.
        ///
        /// - Parameters:
        ///   - check: The check.
        ///   - configuration: The engine and its capabilities.
        public init(check: Check, configuration: Configuration) {
            self.check = check
            self.configuration = configuration
        }

        /// The names of the engine and of the check.
        public var id: String { "\(configuration.name): \(check.name)" }

        /// The names of the engine and of the check.
        public var description: String { id }

        /// Runs the check on a fresh engine.
        ///
        /// - Throws: A ``ConformanceFailure`` with all violations that the check found, or `CancellationError`.
        public func run() async throws {
            let examination = Examination(of: configuration, in: Workspace(), check: check.name)
            if let failure = try await examination.run("a call of the engine", { try await check.body(examination) }) {
                throw failure
            }
        }
    }
}
