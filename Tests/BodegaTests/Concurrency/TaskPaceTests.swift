import Foundation
import TestSupport
import Testing

@testable import Bodega

@Suite struct TaskPaceTests {

    static let engines = ["memory", "SQLite", "SQLite, small", "SQLite, moment", "cached", "disk"]

    private func engine(_ name: String, in folder: TemporaryFolder) throws -> any StorageBackend {
        switch name {
        case "memory": MemoryStorageEngine()
        case "cached": try DiskStorageEngine(opening: folder.directory).cached(bytes: 1 << 20)
        case "disk": try DiskStorageEngine(opening: folder.directory)
        default: try SQLiteStorageEngine(opening: folder.directory)
        }
    }

    @Test("Loops of reads on all of the executor's threads let other tasks run", arguments: engines)
    func otherTasks(name: String) async throws {
        let folder = TemporaryFolder()
        let engine = try engine(name, in: folder)
        let key = CacheKey("key")
        let read: @Sendable () async throws -> Void = {
            switch name {
            case "SQLite, small": _ = try await engine.fetchCount()
            case "SQLite, moment":
                try await engine.database?.atOneMoment {
                    _ = try await engine.fetch(FetchRequest([key, CacheKey("b")]))
                }
            default: _ = try await engine.fetch(key: key)
            }
        }
        try await engine.write(Data([1]), key: key)
        try await read()

        let hasRun = Locked(false)
        // Without a pause, each of the first loops that have a thread would reach its end.
        let ends = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 {
                group.addTask {
                    for _ in 0..<20_000 {
                        if hasRun.withLock({ $0 }) { return false }
                        try await read()
                    }
                    return true
                }
            }
            group.addTask {
                hasRun.withLock { $0 = true }
                return false
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ends == 0)
    }
}
