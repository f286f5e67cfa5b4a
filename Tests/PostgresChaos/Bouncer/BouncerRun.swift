#if Postgres
import Bodega
import BodegaPostgres
import BodegaTesting
import Foundation
import TestSupport

/// Checks the engine behind a pooler. In session mode, all contracts hold. In other modes, and with too few connections
/// to the server, they hold or the engine throws an error that names the pooler.
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
        for size in [1, 2] { problems += try await exhaust(size, server) }
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
        let checks = StorageEngineConformance.checks(for: shared)
        var (problems, refusals): ([String], [String]) = ([], [])
        for check in checks {
            do {
                try await within(.seconds(120)) { try await check.run() }
            } catch {
                let isRefusal = mode != .session && "\(error)".contains("pooler")
                if isRefusal { refusals.append("\(error)") } else { problems.append("\(check): \(error)") }
            }
        }
        report(
            "PgBouncer in \(mode) mode: \(checks.count) checks, \(refusals.count) refused, \(problems.count) failed")
        if let refusal = refusals.first { report("    \(refusal)") }
        return problems
    }
}

extension BouncerRun {
    /// Uses more connections than a pooler has to the server.
    private func exhaust(_ size: Int, _ server: PostgresServer) async throws -> [String] {
        let bouncer = try await Bouncer(.session, size: size, to: server, keeper: keeper)
        let database = try await server.makeDatabase().name
        var message = "the operations succeeded"
        do {
            let engine = try await PostgresStorageEngine(
                connecting: bouncer.url(database), collection: "items",
                options: .init(maximumConnections: 8, connectTimeout: 3, timeout: 3))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask { try await engine.write(Data(count: 10_000), key: CacheKey("\(number)")) }
                    group.addTask { _ = try await engine.fetch(key: CacheKey("\(number)")) }
                }
                try await group.waitForAll()
            }
        } catch {
            message = "\(error)"
        }
        try await bouncer.end()
        report("PgBouncer with \(size) connections to the server: \(message)")
        let saysWhatToChange = message.contains("default_pool_size") && message.contains("maximumConnections")
        return saysWhatToChange ? [] : ["PgBouncer with \(size) connections: \(message)"]
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
