import Bodega
import Foundation

/// An item in the form in which engines return it.
typealias Item = (key: CacheKey, data: Data)

/// One run of a check. It opens engines in its workspace and collects violations.
final class Examination: Sendable {

    let configuration: StorageEngineConformance.Configuration
    let workspace: StorageEngineConformance.Workspace
    private let check: String
    let keyOfName = Locked(Keys())
    private let violations = Locked<[ConformanceFailure.Violation]>([])

    private static let mostViolations = 20

    init(
        of configuration: StorageEngineConformance.Configuration,
        in workspace: StorageEngineConformance.Workspace,
        check: String
    ) {
        self.configuration = configuration
        self.workspace = workspace
        self.check = check
    }

    var clock: ManualClock { workspace.clock }

    func promises(_ capabilities: StorageEngineConformance.Capabilities) -> Bool {
        configuration.capabilities.isSuperset(of: capabilities)
    }

    func session<Result>(_ work: (any StorageEngine) async throws -> Result) async throws -> Result {
        try await work(try await configuration.makeEngine(workspace))
    }

    /// The violations as an error, if there are any.
    var failure: ConformanceFailure? {
        let violations = violations.withLock { $0 }
        return violations.isEmpty ? nil : ConformanceFailure(engine: configuration.name, violations: violations)
    }

    func record(_ subject: String, expected: String, actual: String) {
        violations.withLock { violations in
            guard violations.count < Self.mostViolations else { return }
            violations.append(.init(contract: check, subject: subject, expected: expected, actual: actual))
        }
    }

    /// Runs the check, and removes the data that it leaves behind.
    ///
    /// - Parameter subject: The description of the check's calls, for their errors.
    /// - Throws: `CancellationError`.
    /// - Returns: The violations, if there are any.
    func run(_ subject: String, _ body: () async throws -> Void) async throws -> ConformanceFailure? {
        do {
            try await body()
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            record(subject, expected: "no error", actual: "\(error)")
        }
        do {
            try await remove(workspace)
        } catch {
            record("cleaning up", expected: "no error", actual: "\(error)")
        }
        return failure
    }

    func remove(_ workspace: StorageEngineConformance.Workspace) async throws {
        try await configuration.discard?(workspace)
        try removeDirectory(of: workspace)
    }

    /// Removes a workspace's folder. A released engine may still be closing on another thread and removing its files. A
    /// removal that has listed those files before fails, so this retries.
    private func removeDirectory(of workspace: StorageEngineConformance.Workspace) throws {
        let path = workspace.directory.url.path
        var attempts = 0
        while FileManager.default.fileExists(atPath: path) {
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                attempts += 1
                if attempts == 10 { throw error }
            }
        }
    }
}
