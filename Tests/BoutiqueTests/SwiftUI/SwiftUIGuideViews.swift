#if canImport(SwiftUI)
// The snippets of the guide about SwiftUI. A test compares them with the guide, line by line.
import Boutique
import Foundation
import SwiftUI

struct Habit: Codable, Sendable, Identifiable {
    var id = UUID()
    var title: String
    var isDone = false
}

@MainActor
final class HabitModel {
    let habits: Store<Habit>

    init() throws {
        let engine = try SQLiteStorageEngine(opening: .defaultStorageDirectory(appendingPath: "Habits"))
        habits = Store(storage: engine)
    }
}

struct HabitList: View {
    let habits: Store<Habit>
    @State private var isLoaded = false
    @State private var problem: (any Error)?

    var body: some View {
        List(habits.items) { habit in
            Toggle(habit.title, isOn: isDone(habit))
        }
        .overlay {
            if let problem {
                Text("\(problem)")
            } else if !isLoaded {
                ProgressView()
            }
        }
        .onStoreDidLoad(habits, update: $isLoaded, onError: { problem = $0 })
    }

    private func isDone(_ habit: Habit) -> Binding<Bool> {
        Binding {
            habits[habit.id]?.isDone ?? habit.isDone
        } set: { isDone in
            Task { @MainActor in
                do {
                    try await habits.update(id: habit.id) { $0.isDone = isDone }
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

struct DueHabits: View {
    @State private var window: LiveQuery<Habit>

    init(_ storage: ObjectStorage<Habit>) {
        let due = Query<Habit>(where: #Predicate { !$0.isDone })
        _window = State(wrappedValue: LiveQuery(due, in: storage, limit: 50))
    }

    var body: some View {
        List(window.items) { habit in
            Text(habit.title)
        }
    }
}

struct HabitPreview: View {
    var body: some View {
        HabitList(habits: .previewStore(items: [Habit(title: "Water the plants")]))
    }
}
#endif
