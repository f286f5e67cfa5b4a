import Bodega
import BodegaRemote
import BodegaServer
import BodegaTesting
import Foundation
import Testing

@Suite("A collection on a server")
struct RemoteConformanceTests {

    /// The servers of the workspaces, each on a file with collections.
    private actor Servers {
        typealias Place = (server: TestServer, proxy: FaultyProxy?)

        let isBehindProxy: Bool
        private var places: [String: Task<Place, any Error>] = [:]

        init(isBehindProxy: Bool) { self.isBehindProxy = isBehindProxy }

        func database(_ workspace: StorageEngineConformance.Workspace) async throws -> RemoteDatabase {
            let place =
                places[workspace.identifier]
                ?? Task { [isBehindProxy] in
                    let file = workspace.directory.url.appendingPathComponent("items.sqlite")
                    let database = try SQLiteStorageEngine(openingFile: file, now: workspace.clock.now)
                    var collections = StorageCollections { try database.collection(named: $0) }
                    collections.receipts = try database.collection(named: "receipts")
                    let server = try await TestServer(collections)
                    return (server, isBehindProxy ? try await FaultyProxy(before: server, seed: proxySeed) : nil)
                }
            places[workspace.identifier] = place
            let (server, proxy) = try await place.value
            return try RemoteDatabase(proxy?.url ?? server.url, options: .patient)
        }

        func discard(_ workspace: StorageEngineConformance.Workspace) async throws {
            try await places.removeValue(forKey: workspace.identifier)?.value.server.stop()
        }
    }

    private static func configuration(
        _ name: String, isBehindProxy: Bool
    ) -> StorageEngineConformance.Configuration {
        let servers = Servers(isBehindProxy: isBehindProxy)
        var configuration = StorageEngineConformance.Configuration(
            name, capabilities: .all.union(.shared).subtracting(.moments)
        ) {
            try await servers.database($0).collection(named: "notes")
        }
        configuration.openCollection = { engine, name in
            guard let engine = engine as? RemoteStorageEngine else { throw CancellationError() }
            return try await engine.server.collection(named: name)
        }
        configuration.discard = { try await servers.discard($0) }
        configuration.largestValue = 8 << 20
        configuration.largestBatch = 20_000
        return configuration
    }

    @Test(
        "keeps the contract of engines",
        arguments: sample(
            StorageEngineConformance.checks(for: configuration("RemoteStorageEngine", isBehindProxy: false)), 3))
    func conforms(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    /// Not those of streams: one that is cut off is an error, and only its reader can begin again.
    private static let checksBehindProxy: [StorageEngineConformance.Case] = {
        let ofStreams: [StorageEngineConformance.Check] = [
            .streamsComeBack, .streamedItemsAreItems, .streamsAreSnapshots,
        ]
        return sample(
            StorageEngineConformance.checks(
                for: configuration("RemoteStorageEngine behind a proxy", isBehindProxy: true)
            ).filter { !ofStreams.map(\.name).contains($0.check.name) }, 3)
    }()

    /// One of each `step` cases, beginning with a random one; all of them with `EMPORIUM_SIZE=all`.
    private static func sample<Case>(_ cases: [Case], _ step: Int) -> [Case] {
        if ProcessInfo.processInfo.environment["EMPORIUM_SIZE"] == "all" { return cases }
        return stride(from: Int((UInt64(proxySeed) ?? 0) % UInt64(step)), to: cases.count, by: step).map { cases[$0] }
    }

    @Test(
        "keeps the contract of engines behind a proxy that delays, loses, doubles and cuts",
        arguments: checksBehindProxy)
    func conformsBehindProxy(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    private static let keyset = EncryptionKeyset()

    /// Engines around a remote one, as programs put them together.
    private static let wrappers: [(name: String, wrap: @Sendable (RemoteStorageEngine) -> any StorageEngine)] = [
        ("cached", { $0.cached(count: 20, bytes: 7_000) }),
        ("encrypted", { $0.encrypted(with: keyset, collection: "notes") }),
        ("expiring", { $0.expiring(after: .seconds(86_400)) }),
        ("limited", { $0.limited(count: 1_000_000) }),
        ("mirrored", { $0.mirrored(to: MemoryStorageEngine()) }),
        ("prefixed", { $0.prefixed("a/%é") }),
        ("retrying", { $0.retrying() }),
    ]

    private static let wrapped: [StorageEngineConformance.Configuration] = wrappers.map { name, wrap in
        var wrapped = configuration("RemoteStorageEngine, \(name)", isBehindProxy: false)
        let makeEngine = wrapped.makeEngine
        wrapped.makeEngine = { workspace in
            let engine = try await makeEngine(workspace)
            guard let engine = engine as? RemoteStorageEngine else { throw CancellationError() }
            return wrap(engine)
        }
        wrapped.openCollection = nil
        wrapped.largestValue = 1 << 20
        wrapped.largestBatch = 2_000
        return wrapped
    }

    @Test(
        "keeps the contract of engines inside each wrapper",
        arguments: sample(wrapped.flatMap { StorageEngineConformance.checks(for: $0) }, 30))
    func conformsInWrappers(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(
        "agrees with a dictionary after any operations, also inside a wrapper",
        arguments: [configuration("RemoteStorageEngine", isBehindProxy: false)] + sample(wrapped, 4))
    func model(_ configuration: StorageEngineConformance.Configuration) async throws {
        try await StorageEngineModelTest(configuration, seed: UInt64(proxySeed) ?? 0, steps: 300).run()
    }
}
