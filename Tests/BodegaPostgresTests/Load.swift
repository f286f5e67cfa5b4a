#if Postgres
import Bodega
import Foundation
import TestSupport

/// Writers that write rounds until they are ended, and record which rounds were acknowledged.
///
/// Every second round is a batch of three items.
final class Load: Sendable {
    private let acknowledged: Locked<[Int]>
    private let isEnding = Locked(false)
    private let failure = Locked<(any Error)?>(nil)
    private let size: Int
    private let writers: Locked<[Task<Void, any Error>]>

    /// Starts the writers.
    ///
    /// - Parameters:
    ///   - engines: The engines to write to.
    ///   - writersPerEngine: The number of writers for each engine.
    ///   - size: The size of each value in bytes.
    init(on engines: [any StorageEngine], writersPerEngine: Int, size: Int = 100) {
        let count = engines.count * writersPerEngine
        acknowledged = Locked([Int](repeating: 0, count: count))
        writers = Locked([])
        self.size = size
        for writer in 0..<count {
            let task = Task {
                do {
                    try await write(writer, to: engines[writer % engines.count])
                } catch {
                    failure.withLock { $0 = error }
                    throw error
                }
            }
            writers.withLock { $0.append(task) }
        }
    }

    private func write(_ writer: Int, to engine: any StorageEngine) async throws {
        var round = 0
        while !isEnding.withLock({ $0 }) {
            try await engine.write(Self.keys(writer, round).map { ($0, Self.value($0, size)) })
            round += 1
            acknowledged.withLock { [round] in $0[writer] = round }
        }
    }

    /// The number of acknowledged rounds of each writer. A writer's rounds are 0, 1, 2 and so on.
    var rounds: [Int] { acknowledged.withLock { $0 } }

    /// Waits until each writer has completed some more rounds.
    ///
    /// - Throws: The error of a writer.
    func waitForRounds(_ count: Int) async throws {
        let before = rounds
        try await waitUntil("each writer had done \(count) rounds more than \(before)", within: .seconds(400)) {
            if let failure = failure.withLock({ $0 }) { throw failure }
            return zip(rounds, before).allSatisfy { $0 >= $1 + count }
        }
    }

    /// Ends the writers after their current rounds.
    ///
    /// - Throws: The error of a writer.
    func end() async throws {
        isEnding.withLock { $0 = true }
        for writer in writers.withLock({ $0 }) { try await writer.value }
    }

    /// The keys of a round.
    static func keys(_ writer: Int, _ round: Int) -> [CacheKey] {
        round.isMultiple(of: 2)
            ? [CacheKey("\(writer)/\(round)")] : (0..<3).map { CacheKey("\(writer)/\(round)/\($0)") }
    }

    /// The value of a key, which is incompressible.
    static func value(_ key: CacheKey, _ size: Int) -> Data {
        var state = key.rawValue.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return Data(
            (0..<size).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            })
    }

    /// Returns for each writer and round whether the engine has all items of the round.
    ///
    /// - Throws: A ``HalfRound`` if the engine has a part of a round, or a value that was not written.
    func found(in engine: any StorageEngine, upTo rounds: [Int]) async throws -> [[Bool]] {
        let all = Dictionary(uniqueKeysWithValues: try await engine.fetchAll().map { ($0.key, $0.data) })
        return try rounds.enumerated().map { writer, count in
            try (0..<count).map { round in
                let keys = Self.keys(writer, round)
                let present = keys.filter { all[$0] != nil }
                guard present.allSatisfy({ all[$0] == Self.value($0, size) }), [0, keys.count].contains(present.count)
                else { throw HalfRound(writer: writer, round: round, present: present) }
                return !present.isEmpty
            }
        }
    }

    /// A batch that is stored in part, or has a value that was not written.
    struct HalfRound: Error {
        let writer: Int
        let round: Int
        let present: [CacheKey]
    }
}
#endif
