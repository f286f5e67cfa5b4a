import Bodega
import Boutique
import Foundation
import SharedStores

/// Changes a store on a file that another process has a store on, too, and says what is wrong in the end.
///
/// Each step begins when there is a line to read: changing, and ending. It says how many versions of others it was told of,
/// and what is wrong.
///
/// Arguments: path, name of one letter, seed, number of rounds.
@MainActor
func visit(_ arguments: [String]) async throws {
    let (name, seed, rounds) = (arguments[1], UInt64(arguments[2]) ?? 0, Int(arguments[3]) ?? 0)
    let engine = try open("sqlite", arguments[0], .relaxed)
    let visitor = try await Visitor(
        name, on: engine, seed: name == "A" ? seed : ~seed, removesAll: seed.isMultiple(of: 3))
    say("opened")
    await waitForLine()
    try await visitor.change(rounds: rounds)
    say("changed")
    await waitForLine()
    try await visitor.end()
    try await visitor.await(endsOf: ["A", "B"])
    say("ended")
    say("\(visitor.toldOfOthers.count)")
    for problem in try await visitor.problems(engine) { say(problem) }
}

/// Waits for a line of input, and keeps nobody waiting meanwhile.
func waitForLine() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            _ = readLine()
            continuation.resume()
        }
    }
}
