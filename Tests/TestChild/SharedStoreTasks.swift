import Bodega
import Boutique
import Foundation
import TestSupport

/// Changes a store on a file that another process uses in a store, too, and prints the problems at the end.
///
/// A line of input starts each of two steps, changing and ending. The output is the number of versions of other
/// visitors in the events, and the problems.
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

/// Waits for a line of input without blocking a task's thread.
func waitForLine() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            _ = readLine()
            continuation.resume()
        }
    }
}
