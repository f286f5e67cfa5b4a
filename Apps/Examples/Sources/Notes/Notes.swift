// Notes in a terminal, on Boutique: each command is one change of a store, and `notes watch` shows the changes of other
// processes as they happen.

import Boutique
import Foundation

struct Note: Codable, Sendable, Identifiable {
    var id = UUID()
    var text: String
    var isDone = false
}

@main
struct Notes {
    static let help = """
        Usage: Notes                  lists all notes
               Notes add TEXT         adds a note
               Notes done NUMBER      marks a note as done
               Notes remove NUMBER    removes a note
               Notes clear            removes all notes that are done
               Notes watch            lists the notes after each change, also by other processes, until Ctrl-C
        """

    @MainActor
    static func main() async {
        do {
            let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Examples/Notes"))
            let store = try await Store<Note>(storage: engine)
            try await run(Array(CommandLine.arguments.dropFirst()), on: store)
        } catch {
            // Errors say what happened, to what, and what to do.
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    @MainActor
    static func run(_ arguments: [String], on store: Store<Note>) async throws {
        switch (arguments.first, arguments.dropFirst().joined(separator: " ")) {
        case (nil, _):
            list(store.items)
        case ("add", let text) where !text.isEmpty:
            // The note is on disk when this returns.
            try await store.insert(Note(text: text))
            list(store.items)
        case ("done", let number):
            let note = try note(number, in: store)
            // The closure gets the note as the store shows it when the operation's turn comes.
            try await store.update(id: note.id) { $0.isDone = true }
            list(store.items)
        case ("remove", let number):
            try await store.remove(note(number, in: store))
            list(store.items)
        case ("clear", _):
            // What to remove depends on what is there, so no other operation of the store may come in between.
            try await store.transaction { notes in
                for note in notes.items where note.isDone { notes.remove(note) }
            }
            list(store.items)
        case ("watch", _):
            // An event contains the notes that have changed. The store shows all.
            for await _ in store.events {
                print("—")
                list(store.items)
                fflush(nil)  // at once, also into a pipe
            }
        case ("help", _), ("--help", _):
            print(help)
        default:
            FileHandle.standardError.write(Data("\(help)\n".utf8))
            exit(64)
        }
    }

    /// The note with a number as printed by `list`.
    @MainActor
    static func note(_ number: String, in store: Store<Note>) throws -> Note {
        guard let number = Int(number), store.items.indices.contains(number - 1) else {
            throw Problem(description: "\"\(number)\" is not the number of a note. \"Notes\" lists the notes.")
        }
        return store.items[number - 1]
    }

    static func list(_ notes: [Note]) {
        for (number, note) in zip(1..., notes) { print(number, note.isDone ? "✓" : "•", note.text) }
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String
}
