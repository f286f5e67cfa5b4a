import Boutique
import Foundation

struct Note: Codable, Sendable, Identifiable {
    var id = UUID()
    var text: String
    var isDone = false
}

func finishFirst(_ store: Store<Note>) async throws {
    guard let first = await store.items.first(where: { !$0.isDone }) else { return }
    try await store.update(id: first.id) { $0.isDone = true }
}

@MainActor
func watch(_ store: Store<Note>) async {
    for await _ in store.events {
        print(store.items.count, "notes,", store.items.count { $0.isDone }, "done")
    }
}

@main
struct Notes {
    @MainActor
    static func main() async throws {
        let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "GettingStarted"))
        let store = try await Store<Note>(storage: engine)

        switch CommandLine.arguments.dropFirst().first {
        case "done": try await finishFirst(store)
        case "watch": await watch(store)
        case let text?: try await store.insert(Note(text: text))
        case nil: break
        }
        for note in store.items {
            print(note.isDone ? "✓" : "•", note.text)
        }
    }
}
