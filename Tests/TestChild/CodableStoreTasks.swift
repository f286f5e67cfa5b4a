import Bodega
import CodableStoreKit
import Dispatch
import Foundation
import TestSupport

/// An object of the stores in the child process.
struct Letter: CodableStoreable, Sendable {
    let id: String
    /// Long, so that a torn record is detected.
    var text: String

    static var codableStoreIdentifier: KeyPath<Letter, String> { \.id }
    static var codableStoreCollectionName: String { "Letters" }

    init(id: String) {
        self.id = id
        text = String(repeating: id, count: 50)
    }
}

private func letters(_ kind: String, _ path: String) -> CodableStore<Letter> {
    let folder = FileManager.Directory(url: URL(fileURLWithPath: path))
    return CodableStore(engine: kind == "sqlite" ? .sqlite(in: folder) : .fileSystem(in: folder))
}

/// Saves objects from several threads, one by one and in batches, deletes some, and prints what it has done.
///
/// Arguments: engine, path, prefix of the identifiers, number of rounds of a thread, 0 for no end.
func saveLetters(_ arguments: [String]) {
    let rounds = Int(arguments[3]) ?? 0
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
        let store = letters(arguments[0], arguments[1])
        do {
            for number in 0..<(rounds == 0 ? Int.max : rounds) {
                let id = "\(arguments[2])-\(writer)-\(number)"
                try store.save(Letter(id: id))
                say("saved \(id)")
                let batch = ["a", "b"].map { Letter(id: "\(id)-\($0)") }
                for result in store.save(batch) { if let error = result.error { throw error } }
                say("batch \(id)")
                if number.isMultiple(of: 3) {
                    try store.delete(identifier: id)
                    say("deleted \(id)")
                }
            }
        } catch {
            say("error \(error)")
        }
    }
    say("done")
}

/// Prints the identifiers of all objects.
///
/// Arguments: engine, path.
func listLetters(_ arguments: [String]) throws {
    for letter in try letters(arguments[0], arguments[1]).getCollection() { say(letter.id) }
}

/// Reads commands, one on each line, and confirms each: `save` with an identifier and a text, `delete` with an
/// identifier.
///
/// Arguments: path.
func editLetters(_ arguments: [String]) throws {
    let store = letters("sqlite", arguments[0])
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        if words[0] == "save" {
            var letter = Letter(id: words[1])
            letter.text = words[2]
            try store.save(letter)
        } else {
            try store.delete(identifier: words[1])
        }
        say("done")
    }
}

/// Removes the only collection of a file again and again, and saves a few objects in it each time. Prints a line after
/// each round.
///
/// Arguments: file, seed, number of rounds.
func refillLetters(_ arguments: [String]) async throws {
    let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: arguments[0]), durability: .relaxed)
    guard let name = try await engine.collectionNames().first else { fatalError("There is no collection.") }
    var refilling = Refilling(seed: UInt64(arguments[1]) ?? 0)
    for round in 0..<(Int(arguments[2]) ?? 0) {
        try await refilling.fill(engine, name, round)
        say("round")
    }
    try await engine.close()
    say("done")
}
