import Bodega
import BodegaHTTP
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Keeps any bytes under any keys as objects of an API: with a hexadecimal identifier, and the bytes in Base64.
private struct ObjectsOfBytes: TransformingStorageEngine {
    struct Object: Codable {
        var id: String
        var data: Data
    }

    let base: any StorageBackend

    static func id(of key: CacheKey) -> String {
        key.kind.rawValue + "~" + hexadecimal(Data(key.identity.utf8))
    }

    func storedKey(_ key: CacheKey) -> CacheKey { CacheKey(Self.id(of: key)) }

    func key(ofStored key: CacheKey) -> CacheKey? {
        let parts = key.rawValue.components(separatedBy: "~")
        guard parts.count == 2, let kind = CacheKey.Kind(rawValue: parts[0]) else { return nil }
        var (rest, bytes) = (parts[1][...], [UInt8]())
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return CacheKey(identity: String(decoding: bytes, as: UTF8.self), kind: kind)
    }

    func encode(_ data: Data, key: CacheKey) throws -> Data {
        try JSONEncoder().encode(Object(id: storedKey(key).rawValue, data: data))
    }

    func decode(_ stored: Data, key: CacheKey) throws -> Data? {
        try JSONDecoder().decode(Object.self, from: stored).data
    }
}

/// The engine on a real server, with the suite's bytes as JSON objects.
@Suite struct HTTPConformanceTests {
    private static let plain = configuration("HTTP", query: [:], path: [])
    private static let paged = configuration(
        "HTTP, in pages, with the array under members", query: ["size": "5", "path": "a.é"], path: ["a", "é"])

    private static func configuration(
        _ name: String, query: [String: String], path: [String]
    ) -> StorageEngineConformance.Configuration {
        var configuration = StorageEngineConformance.Configuration(
            name, capabilities: [.ordered, .persistent]
        ) { workspace in
            var options = HTTPStorageOptions()
            options.itemsPath = path
            let url = try await APIServer.shared.value.url("items/\(workspace.identifier)", query)
            return ObjectsOfBytes(base: try HTTPStorageEngine(url, options: options))
        }
        configuration.largestBatch = 40
        configuration.largestValue = 1 << 20
        // Another client writes what is no object.
        configuration.breakStorage = { engine, workspace in
            let server = try await APIServer.shared.value
            let key = try #require(try await engine.fetchKeys().first)
            let id = ObjectsOfBytes.id(of: key)
            let request = HTTPStorageRequest(
                method: .put, url: try server.url("items/\(workspace.identifier)/\(id)"), body: Data("{".utf8),
                maximumResponseBytes: 0, timeLimit: .seconds(60))
            _ = try await URLSessionTransport.shared.send(request)
        }
        return configuration
    }

    @Test(arguments: StorageEngineConformance.checks(for: plain))
    func `The engine keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: [plain, paged])
    func `The engine agrees with a model`(_ configuration: StorageEngineConformance.Configuration) async throws {
        let seed = StorageEngineModelTest.seedFromEnvironment() ?? .random(in: 0 ... .max)
        print("EMPORIUM_SEED=\(seed)")
        try await StorageEngineModelTest(configuration, seed: seed, steps: 40).run()
    }

    @Test func `The checks that are skipped are those of capabilities that an API lacks`() {
        let skipped = StorageEngineConformance.skippedChecks(for: Self.plain)
        let missing: StorageEngineConformance.Capabilities = [
            .atomicBatches, .exactKeys, .isolatedBatches, .injectedClock, .shared,
        ]
        for check in skipped {
            let isMissing = !check.capabilities.isDisjoint(with: missing)
            // These two need collections of one database.
            #expect(isMissing || [.collectionsDiffer, .removalsHaveConsequences].contains(check), "\(check)")
        }
    }
}

private func hexadecimal(_ bytes: Data) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
