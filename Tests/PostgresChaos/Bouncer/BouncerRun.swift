#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Foundation
import TestSupport

/// Checks the engine behind a pooler. In session mode, all contracts hold. In transaction mode, they hold or the engine
/// throws an error that names the pooler.
struct BouncerRun {
    let keeper: Keeper

    /// Runs all checks.
    ///
    /// - Returns: The violations.
    func run() async throws -> [String] {
        let server = try await PostgresServer.launch(settings: ["max_connections": "200"])
        var problems: [String] = []
        for mode in Bouncer.Mode.allCases {
            let bouncer = try await Bouncer(mode, to: server, keeper: keeper)
            problems += try await examine(mode, bouncer, server)
            try await bouncer.end()
        }
        try await server.remove()
        return problems
    }

    private func examine(_ mode: Bouncer.Mode, _ bouncer: Bouncer, _ server: PostgresServer) async throws -> [String] {
        let databases = Databases(server)
        let configuration = StorageEngineConformance.Configuration("pgbouncer, \(mode)") { workspace in
            let database = try await databases.database(workspace.identifier)
            return try await PostgresStorageEngine(
                connecting: bouncer.url(database), collection: "items",
                options: .init(maximumConnections: 4, connectTimeout: 60, timeout: 60), now: workspace.clock.now)
        }
        var shared = configuration
        shared.capabilities.insert(.shared)
        let checks =
            StorageEngineConformance.checks(for: configuration) + StorageEngineConformance.changeFeedChecks(for: shared)
        var (problems, refusals): ([String], [String]) = ([], [])
        for check in checks {
            do {
                try await within(.seconds(120)) { try await check.run() }
            } catch {
                let isRefusal = mode == .transaction && "\(error)".contains("pooler")
                if isRefusal { refusals.append("\(error)") } else { problems.append("\(check): \(error)") }
            }
        }
        report(
            "PgBouncer in \(mode) mode: \(checks.count) checks, \(refusals.count) refused, \(problems.count) failed")
        if let refusal = refusals.first { report("    \(refusal)") }
        return problems
    }
}

/// Runs a closure. If it takes too long, it is cancelled and not awaited.
private func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    let isOver = Locked(false)
    let waiting = Task {
        defer { isOver.withLock { $0 = true } }
        try await task.value
    }
    do {
        try await waitUntil("the check ended", within: limit) { isOver.withLock { $0 } }
    } catch {
        task.cancel()
        throw error
    }
    try await waiting.value
}

/// One database for each name.
private actor Databases {
    private let server: PostgresServer
    private var names: [String: String] = [:]

    init(_ server: PostgresServer) {
        self.server = server
    }

    func database(_ name: String) async throws -> String {
        if let known = names[name] { return known }
        let made = try await server.makeDatabase().name
        names[name] = made
        return made
    }
}
#endif
