import Bodega
import BodegaTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// The engines of this package, for tests that all of them pass.
enum Engines {

    typealias Configuration = StorageEngineConformance.Configuration

    static let all = each + variants

    private static let each = [memory, sqlite, sqliteCollection, disk].map(withBatchLimit)

    /// The same engines with other options, and on files that were copied.
    private static let variants = [relaxedSQLite, restoredSQLite, relaxedDisk, restoredDisk].map(withBatchLimit)

    /// All checks of each engine, and a sample of those of its variants.
    static let checks =
        TestSizes.sanitized(each.flatMap(StorageEngineConformance.checks(for:)))
        + TestSizes.sample(variants.flatMap(StorageEngineConformance.checks(for:)))

    private static func withBatchLimit(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        // Engines on one file see each other's changes.
        if configuration.name.hasPrefix("SQLite") { configuration.capabilities.insert(.shared) }
        if ThreadSanitizer.isThere { configuration.largestBatch = 5_000 }
        return configuration
    }

    static let memory = Configuration("memory", capabilities: .all.subtracting(.persistent)) { workspace in
        MemoryStorageEngine(now: workspace.clock.now)
    }

    static let sqlite = sqlite("SQLite", durability: .full)
    static let relaxedSQLite = sqlite("SQLite, relaxed", durability: .relaxed)
    static let restoredSQLite = restored(sqlite("SQLite, a copy of files in use", durability: .relaxed))

    /// A collection beside two others, whose items it must not return.
    static let sqliteCollection = {
        var configuration = Configuration("SQLite collection") { workspace in
            let engine = try SQLiteStorageEngine(opening: workspace.directory, now: workspace.clock.now)
            let others = [engine, try engine.collection(named: "other")]
            for other in others { try await other.write(Data("of another collection".utf8), key: CacheKey("a")) }
            return try engine.collection(named: "tested")
        }
        configuration.largestBatch = 40_000
        configuration.openCollection = { engine, name in
            try #require(engine as? SQLiteStorageEngine).collection(named: name)
        }
        return configuration
    }()

    static let disk = disk("disk", durability: .full)
    static let relaxedDisk = disk("disk, relaxed", durability: .relaxed)
    static let restoredDisk = restored(disk("disk, a copy of files in use", durability: .relaxed))

    private static func sqlite(_ name: String, durability: StorageDurability) -> Configuration {
        var configuration = Configuration(name) { workspace in
            try SQLiteStorageEngine(opening: workspace.directory, durability: durability, now: workspace.clock.now)
        }
        configuration.refuseOperation = { _, workspace in
            try await change(workspace) { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER refusal BEFORE INSERT ON data WHEN NEW.key = 'refused'
                        BEGIN SELECT RAISE(ABORT, 'refused'); END
                        """
                )
            }
            return .write(key: CacheKey("refused"), data: Data())
        }
        configuration.breakStorage = { _, workspace in
            try await change(workspace) { try $0.execute(sql: "DROP TABLE data") }
        }
        return configuration
    }

    /// An engine on copies of another engine's files, taken while that engine was open and kept a log.
    private static func restored(_ configuration: Configuration) -> Configuration {
        var restored = configuration
        restored.makeEngine = { workspace in
            let files = FileManager.default
            let place = workspace.directory.url
            let exists = files.fileExists(atPath: place.path)
            if try !exists || files.contentsOfDirectory(atPath: place.path).isEmpty {
                let source = StorageEngineConformance.Workspace()
                let engine = try await configuration.makeEngine(source)
                _ = try await engine.backend.log?.fetchCursor()
                try await engine.write([(CacheKey("a"), Data("1".utf8)), (CacheKey("b"), Data("2".utf8))])
                try await engine.apply([.removeAll])
                if exists { try files.removeItem(at: place) }
                try files.copyItem(at: source.directory.url, to: place)
                withExtendedLifetime(engine) {}
                try files.removeItem(at: source.directory.url)
            }
            return try await configuration.makeEngine(workspace)
        }
        return restored
    }

    /// Changes the file of an engine through another connection.
    private static func change(
        _ workspace: StorageEngineConformance.Workspace,
        _ change: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        let file = workspace.directory.url.appendingPathComponent("data.sqlite3")
        try await DatabaseQueue(path: file.path).write(change)
    }

    private static func disk(_ name: String, durability: StorageDurability) -> Configuration {
        var configuration = Configuration(name) { workspace in
            try DiskStorageEngine(opening: workspace.directory, durability: durability, now: workspace.clock.now)
        }
        configuration.refuseOperation = { _, workspace in
            // A file cannot replace a folder that is not empty.
            let key = CacheKey("refused")
            let folder = workspace.directory.url.appendingPathComponent(key.value)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("inside"),
                withIntermediateDirectories: true
            )
            return .write(key: key, data: Data())
        }
        configuration.breakStorage = { _, workspace in
            let folder = workspace.directory.url
            try FileManager.default.removeItem(at: folder)
            try Data("a file in place of the folder".utf8).write(to: folder)
        }
        // Each item is a file, and no part of the engine has a limit.
        configuration.largestBatch = 40_000
        return configuration
    }
}

@Test(arguments: Engines.checks)
func `An engine keeps the contract`(_ check: StorageEngineConformance.Case) async throws {
    try await check.run()
}

@Test(arguments: Engines.all)
func `An engine has the log and the traits that its documentation promises`(
    _ configuration: StorageEngineConformance.Configuration
) async throws {
    let engine = try await configuration.makeEngine(StorageEngineConformance.Workspace()).backend
    let isOnDisk = configuration.name.hasPrefix("disk")
    var traits: StorageTraits = [.atomic, .conditional, .dated, .ignoresCancellation]
    if !isOnDisk { traits.insert(.stablePositions) }
    if configuration.name.hasPrefix("SQLite") { traits.insert(.intersects) }
    #expect(engine.traits == traits)
    #expect((engine.log != nil) == !isOnDisk)
    #expect((engine.indexes != nil) == !isOnDisk)
}
