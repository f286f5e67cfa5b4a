#if canImport(SwiftUI)
// The snippets of the guide about SwiftUI. A test compares them with the guide, line by line.
import Boutique
import Foundation
import SwiftUI

struct Chore: Codable, Sendable, Identifiable {
    var id = UUID()
    var title: String
    var isDone = false
}

@MainActor
final class ChoreModel {
    let chores: Store<Chore>

    init() throws {
        let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Chores"))
        chores = Store(storage: engine)
    }
}

struct ChoreList: View {
    let chores: Store<Chore>
    @State private var isLoaded = false
    @State private var problem: (any Error)?

    var body: some View {
        List(chores.items) { chore in
            Toggle(chore.title, isOn: isDone(chore))
        }
        .overlay {
            if let problem {
                Text("\(problem)")
            } else if !isLoaded {
                ProgressView()
            }
        }
        .onStoreDidLoad(chores, update: $isLoaded, onError: { problem = $0 })
    }

    private func isDone(_ chore: Chore) -> Binding<Bool> {
        Binding {
            chores[chore.id]?.isDone ?? chore.isDone
        } set: { isDone in
            Task {
                do {
                    try await chores.update(id: chore.id) { $0.isDone = isDone }
                } catch {
                    problem = error
                }
            }
        }
    }
}

struct DisplaySettings: View {
    @StoredValue(key: "isDark") private var isDark = false

    var body: some View {
        Toggle("Dark", isOn: $isDark.binding)
    }
}

struct DueChores: View {
    @State private var window: LiveQuery<Chore>

    init(_ storage: ObjectStorage<Chore>) {
        let due = Query<Chore>(where: #Predicate { !$0.isDone })
        _window = State(wrappedValue: LiveQuery(due, in: storage, limit: 50))
    }

    var body: some View {
        List(window.items) { chore in
            Text(chore.title)
        }
    }
}

struct ChorePreview: View {
    var body: some View {
        ChoreList(chores: .previewStore(items: [Chore(title: "Water the plants")]))
    }
}
#endif
