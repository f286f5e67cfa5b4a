import Bodega
import BodegaTesting
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

/// Moves units between two stores on one file, which other processes do as well, and prints the number of each
/// transaction. Stores and windows are observed all the time, and each observation with another sum than that of all
/// units is printed. The last line is the number of observations.
///
/// Arguments: path, seed, number of transactions.
@MainActor
func transferUnits(_ arguments: [String]) async throws {
    let (seed, count) = (UInt64(arguments[1]) ?? 0, Int(arguments[2]) ?? 0)
    let engine = try SQLiteStorageEngine(
        opening: FileManager.Directory(url: URL(fileURLWithPath: arguments[0], isDirectory: true)),
        durability: .relaxed)
    let engines = try ["a", "b"].map { try engine.collection(named: $0) }
    var stores: [Store<UnitAccount>] = []
    for engine in engines { stores.append(try await Store<UnitAccount>(storage: engine)) }
    let windows = engines.map { LiveQuery(Query<UnitAccount>(), in: ObjectStorage<UnitAccount>(storage: $0)) }
    for window in windows { try await window.itemsHaveLoaded() }
    let watch = UnitWatch(stores, windows)
    watch.onWrong = { say("wrong \($0)") }
    watch.check()
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
        let from = Int.random(in: 0...1, using: &random)
        let keys = UnitAccount.keys.shuffled(using: &random)
        let units = Int.random(in: 1...9, using: &random)
        try await stores[from].transaction(with: stores[1 - from]) { from, to in
            guard let source = from.items.first(where: { $0.id == keys[0].rawValue }) else { return }
            from.insert(UnitAccount(id: source.id, units: source.units - units))
            to.insert(UnitAccount(id: keys[1].rawValue, units: (to[keys[1].rawValue]?.units ?? 0) + units))
        }
        say("\(number)")
    }
    watch.check()
    say("observed \(watch.observations)")
}

/// Waits for a line of input without blocking a task's thread.
func waitForLine() async {
    await blocking { _ = readLine() }
}
