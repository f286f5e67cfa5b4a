import Bodega
import BodegaTesting
import Foundation

/// Writes and removes chores in random batches until it is killed, and prints the number of each batch.
///
/// The chore 1000 has the number of the last batch as its rank.
///
/// Arguments: path, seed, number of the first batch, number of other chores.
func writeChores(_ arguments: [String]) async throws {
    let engine = try open("sqlite", arguments[0], .relaxed).backend
    var random = SeededGenerator(seed: UInt64(arguments[1]) ?? 0)
    let (first, count) = (Int(arguments[2]) ?? 0, Int(arguments[3]) ?? 0)
    func write(_ id: Int, rank: String, isDone: Bool = false) -> StorageOperation {
        let json = "{\"id\":\(id),\"title\":\"\(["a", "b", "c"][id % 3])\",\"rank\":\(rank),\"isDone\":\(isDone)}"
        return .write(key: CacheKey("chore-\(id)"), data: Data(json.utf8))
    }
    for number in first... {
        var operations: [StorageOperation] = []
        if Int.random(in: 0..<200, using: &random) == 0 { operations.append(.removeAll) }
        // Some batches are so large that they write the log instead of the triggers.
        let size = Int.random(in: 0..<30, using: &random) == 0 ? 250 : Int.random(in: 1...6, using: &random)
        for _ in 0..<size {
            let id = Int.random(in: 0..<count, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                operations.append(.remove(key: CacheKey("chore-\(id)")))
            } else {
                let rank = Int.random(in: 0..<8, using: &random)
                operations.append(
                    write(
                        id, rank: rank == 0 ? "null" : "\(Int.random(in: 0..<60, using: &random))",
                        isDone: Bool.random(using: &random)))
            }
        }
        operations.append(write(1000, rank: "\(number)"))
        try await engine.apply(operations)
        say("\(number)")
    }
}
