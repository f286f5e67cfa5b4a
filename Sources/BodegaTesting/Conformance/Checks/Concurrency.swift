import Bodega
import Foundation

extension StorageEngineConformance.Check {

    static let concurrency = [concurrentWritersLoseNothing, valuesAreNeverTorn, batchesAreNeverHalfVisible]

    /// No write or removal of many concurrent tasks is lost.
    public static let concurrentWritersLoseNothing = Self("concurrent writers lose nothing") { examination, engine in
        let (writers, rounds) = (24, 8)
        _ = try await atOnce(Array(0..<writers)) { writer in
            for round in 0..<rounds {
                let name = "\(writer)/\(round)"
                try await engine.write(bytes(name), key: examination.key(name))
                try await engine.write(examination.items("\(name)/a", "\(name)/b"))
                try await engine.remove(key: examination.key("\(name)/a"))
                let data = try await engine.fetch(key: examination.key(name))
                examination.expectEqual(data, bytes(name), "fetch(key:) of an item that the same task wrote")
            }
        }
        let names = (0..<writers).flatMap { writer in
            (0..<rounds).flatMap { ["\(writer)/\($0)", "\(writer)/\($0)/b"] }
        }
        let expected: [Item] = names.map { (examination.key($0), bytes($0)) }
        try await examination.expectItems(of: engine, keys: expected.map(\.key), expected, "after concurrent writes")
        let keys = try await engine.fetchKeys()
        examination.expectEqual(keys.count, names.count, "the number of fetchKeys() after concurrent writes")
        examination.expectEqual(Set(keys.map(\.value)).count, names.count, "the number of different fetchKeys()")
        examination.expectEqual(try await engine.fetchCount(), names.count, "fetchCount() after concurrent writes")
    }

    /// While many tasks overwrite one item, each read returns one complete value.
    public static let valuesAreNeverTorn = Self("values are never torn") { examination, engine in
        let key = examination.key("contested")
        let size = min(200_000, examination.configuration.largestValue)
        try await engine.write(Data(repeating: 0, count: size), key: key)
        try await examination.readWhileWriting(
            writers: 8,
            write: { writer, round in
                // Sizes differ, so that the end of a longer value after a shorter one is noticed.
                let count = size - writer * size / 16
                try await engine.write(Data(repeating: UInt8(writer * 16 + round), count: count), key: key)
            },
            read: {
                let data = try await engine.fetch(key: key)
                guard let data, let first = data.first else {
                    return examination.record(
                        "fetch(key:) while writing", expected: "a value", actual: "\(described(data as Any))")
                }
                let expectedCount = first == 0 ? size : size - Int(first) / 16 * size / 16
                let isWhole = data.count == expectedCount && data.allSatisfy { $0 == first }
                examination.expect(isWhole, "fetch(key:) while writing returns one whole value")
            }
        )
        examination.expectEqual(try await engine.fetchCount(), 1, "fetchCount() after concurrent overwriting")
    }

    /// While batches write the same value to two items, a read of both never returns different values or only one item.
    public static let batchesAreNeverHalfVisible = Self("batches are never half visible", requires: .isolatedBatches) {
        examination, engine in
        let keys = [examination.key("left"), examination.key("right")]
        try await engine.write(keys.map { ($0, bytes("start")) })
        let check: @Sendable (String, [Data]) -> Void = { form, found in
            let isWhole = found.count == 2 && found[0] == found[1]
            if !isWhole {
                let values = found.map { described(text: String(decoding: $0, as: UTF8.self)) }
                examination.record(
                    "\(form) while batches run",
                    expected: "two equal values",
                    actual: values.isEmpty ? "nothing" : values.joined(separator: ", ")
                )
            }
        }
        try await examination.readWhileWriting(
            writers: 4,
            write: { writer, round in
                let value = bytes("writer \(writer), round \(round)")
                let pair = keys.map { StorageOperation.write(key: $0, data: value) }
                switch round % 3 {
                case 0: try await engine.write(keys.map { ($0, value) })
                case 1: try await engine.apply(keys.map { .remove(key: $0) } + pair)
                default: try await engine.apply([.removeAll] + pair)
                }
            },
            read: {
                check("fetch(keys:)", try await engine.fetch(keys: keys).map(\.data))
                check("fetchAll()", try await engine.fetchAll().map(\.data))
                check("readAllData()", await engine.readAllData())
            }
        )
        check("fetch(keys:) at the end", try await engine.fetch(keys: keys).map(\.data))
    }
}

extension Examination {

    /// Runs writers concurrently, twelve rounds each, and two readers until all writers have ended.
    fileprivate func readWhileWriting(
        writers: Int,
        write: @escaping @Sendable (_ writer: Int, _ round: Int) async throws -> Void,
        read: @escaping @Sendable () async throws -> Void
    ) async throws {
        let working = Locked(writers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    defer { working.withLock { $0 -= 1 } }
                    for round in 0..<12 { try await write(writer, round) }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    repeat {
                        try await read()
                        await Task.yield()
                    } while working.withLock { $0 } > 0
                }
            }
            try await group.waitForAll()
        }
    }
}
