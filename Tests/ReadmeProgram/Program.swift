import Boutique
import Foundation
import Observation

struct Note: Codable, Sendable, Identifiable {
    var id: String
    var text: String
    var isDone = false
}

@MainActor @Observable final class NotesModel {
    @ObservationIgnored @Stored var notes: [Note]  // does its own tracking
    init(_ store: Store<Note>) { _notes = Stored(in: store) }

    func write(_ text: String) async throws {
        try await $notes.insert(Note(id: UUID().uuidString, text: text))  // on disk when it returns
    }

    func finish(_ note: Note) async throws {
        try await $notes.update(id: note.id) { $0.isDone = true }
    }
}

@main struct Program {
    @MainActor static func main() async throws {
        let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Notes"))
        let store = try await Store<Note>(storage: engine)
        let model = NotesModel(store)
        try await model.write("Buy milk")
        print(model.notes.map(\.text))  // the second run prints two notes
    }
}
