import Bodega
import Foundation

/// Random queries of random items, compared with a naive search.
package enum DifferentialQueries {

    /// Writes random items to engines, changes some, and compares what queries find in the engines with a naive search.
    ///
    /// - Parameters:
    ///   - cases: The number of queries, each of which runs in one engine.
    ///   - seed: The seed of items and queries.
    ///   - engines: The engines, which take turns. Their items are removed.
    ///   - sizes: Numbers of items, of which each round of 40 queries has one.
    /// - Returns: Descriptions of the first 10 differences.
    package static func findDefects(
        cases: Int, seed: UInt64, engines: [QueriedEngine], sizes: [Int] = [0, 1, 5, 20, 30, 30, 30, 30, 30, 150]
    ) async throws -> [String] {
        let turns = engines.flatMap { Array(repeating: $0, count: $0.share) }
        var samples = ModelSamples(seed: seed)
        let items = QueriedItems(in: engines.map(\.engine))
        var number = 0
        var defects: [String] = []
        while number < cases {
            samples.beginRound()
            try await items.removeAll()
            let size = samples.pick(sizes)
            let documents = (0..<size).map { _ in samples.document() }
            try await items.add(documents)
            for _ in 0..<40 where number < cases {
                if samples.chance(20) { try await items.change(&samples) }
                let query = QueryCase(&samples)
                number += 1
                let queried = turns[number % turns.count]
                let defect: String?
                do {
                    defect = try await query.defect(of: queried, items.items(in: queried.engine))
                } catch {
                    defect = "\(error)"
                }
                if let defect {
                    defects.append("seed \(seed), case \(number), \(queried.name): \(query): \(defect)")
                    if defects.count == 10 { return defects }
                }
            }
        }
        return defects
    }
}
