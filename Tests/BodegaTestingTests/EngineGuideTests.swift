import Bodega
import BodegaTesting
import Foundation
import Testing

// The engine and the suite of the guide "Writing an engine". A test compares them with the guide, line by line.

actor JSONFileEngine: ThrowingStorageEngine {

    private struct Item: Codable {
        var key: CacheKey
        var data: Data
        var createdAt, updatedAt: Date
    }

    private let file: URL
    private let now: @Sendable () -> Date

    init(directory: FileManager.Directory, now: @escaping @Sendable () -> Date = { Date() }) throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        file = directory.url.appendingPathComponent("items.json")
        self.now = now
    }

    func fetch(key: CacheKey) throws -> Data? {
        try readItems().first { $0.key == key }?.data
    }

    func fetch(keys: [CacheKey]) throws -> [(key: CacheKey, data: Data)] {
        let items = try readItems()
        return keys.compactMap { key in items.first { $0.key == key }.map { (key, $0.data) } }
    }

    func fetchAll() throws -> [(key: CacheKey, data: Data)] {
        try readItems().map { ($0.key, $0.data) }
    }

    func fetchKeys() throws -> [CacheKey] {
        try readItems().map(\.key)
    }

    func fetchDates(key: CacheKey) throws -> StorageDates? {
        try readItems().first { $0.key == key }.map { StorageDates(createdAt: $0.createdAt, updatedAt: $0.updatedAt) }
    }

    func apply(_ operations: [StorageOperation]) throws {
        var items = try readItems()
        for operation in operations {
            switch operation {
            case .write(let key, let data):
                if let index = items.firstIndex(where: { $0.key == key }) {
                    items[index].data = data
                    items[index].updatedAt = now()
                } else {
                    items.append(Item(key: key, data: data, createdAt: now(), updatedAt: now()))
                }
            case .remove(let key): items.removeAll { $0.key == key }
            case .removeAll: items = []
            }
        }
        do {
            try JSONEncoder().encode(items).write(to: file, options: .atomic)
        } catch {
            throw StorageError(.inputOutput, "The file could not be written.", file: file, cause: error)
        }
    }

    /// Returns the items of the file. Only a missing file has none; one that can't be read is an error.
    private func readItems() throws -> [Item] {
        do {
            return try JSONDecoder().decode([Item].self, from: Data(contentsOf: file))
        } catch CocoaError.fileReadNoSuchFile {
            return []
        } catch {
            throw StorageError(.damaged, "The file could not be read.", file: file, cause: error)
        }
    }
}

@Suite struct JSONFileEngineTests {

    nonisolated static var configuration: StorageEngineConformance.Configuration {
        var configuration = StorageEngineConformance.Configuration("JSON file", capabilities: .all) { workspace in
            try JSONFileEngine(directory: workspace.directory, now: workspace.clock.now)
        }
        configuration.largestBatch = 1000  // because each operation searches all items
        configuration.breakStorage = { _, workspace in
            try Data("?".utf8).write(to: workspace.directory.url.appendingPathComponent("items.json"))
        }
        return configuration
    }

    @Test(arguments: StorageEngineConformance.checks(for: configuration))
    func `conforms to the contract`(_ check: StorageEngineConformance.Case) async throws {
        try await check.run()
    }

    @Test(arguments: [StorageEngineModelTest.seedFromEnvironment() ?? .random(in: 0 ... .max)])
    func `agrees with a model`(seed: UInt64) async throws {
        try await StorageEngineModelTest(Self.configuration, seed: seed).run()
    }
}
