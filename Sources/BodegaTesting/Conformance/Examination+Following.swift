import Bodega
import Foundation

extension Examination {

    /// Runs a closure that should end promptly.
    ///
    /// - Parameter subject: A description of the closure, for reports.
    /// - Returns: `nil` if it did not end in time. It is cancelled then, but not awaited.
    func soon<Value: Sendable>(
        _ subject: String,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Value, any Error>?.self)
        let task = Task {
            do {
                continuation.yield(.success(try await work()))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        let limit = Task { [patience = configuration.patience] in
            do {
                try await Task.sleep(for: patience)
            } catch {
                // The work ended first.
                return
            }
            continuation.yield(nil)
        }
        defer {
            task.cancel()
            limit.cancel()
        }
        for await result in results {
            guard let result else { break }
            return try result.get()
        }
        record(subject, expected: "an end within \(configuration.patience)", actual: "none")
        return nil
    }

    /// The seed of a random check: the environment's or a new one. It is printed so that the check can be repeated.
    func printedSeed() -> UInt64 {
        let seed = SeededGenerator.seedFromEnvironment() ?? .random(in: 0...UInt64.max)
        print("\(configuration.name): EMPORIUM_SEED=\(seed)")
        return seed
    }

    /// Opens an engine, and does nothing if it has no log.
    func observing(_ work: (any StorageBackend) async throws -> Void) async throws {
        try await session { engine in
            if engine.backend.log != nil { try await work(engine.backend) }
        }
    }

    /// Reads all changes after a cursor.
    ///
    /// - Returns: `nil` if the cursor is unknown, which is recorded as a violation.
    func allChanges(
        of engine: any StorageBackend,
        since cursor: StorageCursor,
        excluding origin: StorageOrigin? = nil,
        _ moment: String
    ) async throws -> StorageDelta? {
        var all = StorageDelta(changes: [], cursor: cursor, isComplete: false)
        while !all.isComplete {
            guard let delta = try await engine.fetchChanges(since: all.cursor, excluding: origin) else {
                record("fetchChanges(since:excluding:) \(moment)", expected: "changes", actual: "nil")
                return nil
            }
            if delta.changes.isEmpty, !delta.isComplete, delta.cursor == all.cursor {
                record("an incomplete delta \(moment)", expected: "another cursor", actual: "the same cursor")
                return nil
            }
            all = StorageDelta(changes: all.changes + delta.changes, cursor: delta.cursor, isComplete: delta.isComplete)
        }
        return all
    }

    /// Compares changes, except for their origins.
    func expectChanges(_ actual: [StorageChange]?, _ expected: [StorageChange], _ subject: String) {
        guard let actual else { return }
        expectEqual(actual.map(line(of:)), expected.map(line(of:)), subject)
    }

    private func line(of change: StorageChange) -> ChangeLine {
        ChangeLine(kind: change.kind, name: comparableBytes(of: change.key), key: change.key)
    }
}

/// The compared parts of a change.
private struct ChangeLine: Equatable, CustomStringConvertible {
    let kind: StorageChange.Kind
    let name: [UInt8]
    let key: CacheKey

    var description: String { "\(kind) \(described(key))" }

    static func == (left: ChangeLine, right: ChangeLine) -> Bool { left.kind == right.kind && left.name == right.name }
}
