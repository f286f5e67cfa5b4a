import Boutique
import Observation

// The snippets of the tour of Boutique. They run in this process because its environment says where the user's folders
// are. A test compares them with the tour, line by line.

struct Note: Codable, Sendable, Identifiable {
    var id: String
    var text: String
    var isDone = false
}

@MainActor
@Observable
final class NotesModel {
    @ObservationIgnored @Stored var notes: [Note]

    init(_ store: Store<Note>) {
        _notes = Stored(in: store)
    }

    var unfinished: [Note] { notes.filter { !$0.isDone } }
}

/// Runs the snippets, and stops at the first that doesn't do what the tour says.
@MainActor
func runReadmeStoreSnippets() async throws {
    let engine = MemoryStorageEngine()
    try await useStore(engine)
    try await changeShapes()
    try await useValues(engine)
}

@MainActor
private func useStore(_ engine: MemoryStorageEngine) async throws {
    let store = try await Store<Note>(storage: engine, cacheIdentifier: \.id)

    try await store.insert(Note(id: "milk", text: "Buy milk"))
    try await store.insert([Note(id: "bread", text: "Buy bread"), Note(id: "tea", text: "Buy tea")])
    try await store.remove(id: "tea")
    print(store.items.map(\.id))  // ["milk", "bread"]

    let milk = store["milk"]  // in constant time
    let isThere = store.contains(id: "tea")

    // No other operation of this store comes between reading and writing.
    try await store.update(id: "milk") { $0.text = "Buy oat milk" }

    // One batch and one change, all or nothing.
    try await store
        .removeAll()
        .insert(Note(id: "coffee", text: "Buy coffee"))
        .run()

    // The same, when what to do depends on what is there.
    try await store.transaction { notes in
        guard let coffee = notes["coffee"], !coffee.isDone else { return }
        notes.remove(id: "coffee")
        notes.insert(Note(id: "espresso", text: coffee.text))
    }

    precondition(milk?.text == "Buy milk" && !isThere)
    precondition(store.items.map(\.text) == ["Buy coffee"])
    try await watch(store)
    try await repair(store)
}

@MainActor
private func watch(_ store: Store<Note>) async throws {
    // Ends the loops, which would go on for as long as the store is there.
    let watching = Task { try await watchForever(store) }
    while !store.isEmpty { await Task.yield() }
    watching.cancel()
    try await watching.value
}

@MainActor
private func watchForever(_ store: Store<Note>) async throws {
    Task { try await store.removeAll() }

    // The Observation framework calls back when a property changes that was read.
    withObservationTracking {
        print(store.items.count, store["espresso"]?.text ?? "none")
    } onChange: {
        print("something of this will change")
    }

    // Combine; on Linux, OpenCombine.
    let subscription = store.$items.sink { items in
        print("there are \(items.count)")
    }

    // What happens, operation by operation, beginning with what is there.
    for await event in store.events {
        switch event.operation {
        case .initialized: print("loading")
        case .loaded: print("loaded", event.items.count)
        case .insert: print("new", event.insertedIDs, "changed", event.updatedIDs)
        case .remove: print("gone", event.removedIDs)
        }
    }

    // One item.
    for await note in store.values(id: "espresso") {
        print(note?.text ?? "gone")
    }

    subscription.cancel()
}

@MainActor
private func repair(_ store: Store<Note>) async throws {
    switch store.state {
    case .loading, .loaded: break
    case .failed(let error): print("nothing was lost, nothing is overwritten:", error)
    }
    try await store.reload()

    for error in store.undecodable { print(error.key as Any, error.cause as Any) }
    let records = try await store.undecodableData()  // export them for inspection
    try await store.removeUndecodable(records.map(\.key))
}

@MainActor
private func changeShapes() async throws {
    struct TaskV1: Codable { var id, text: String }
    struct TaskV2: Codable { var id, title: String }
    struct Task3: Codable {
        enum Priority: String, Codable { case normal, high }
        var id, title: String
        var priority: Priority
    }
    let engine = MemoryStorageEngine()
    try await Store<TaskV1>(storage: engine, cacheIdentifier: \.id).insert(TaskV1(id: "a", text: "A"))

    let migration = ItemMigration(startingWith: TaskV1.self)
        .then(TaskV2.self) { TaskV2(id: $0.id, title: $0.text) }
        .then(Task3.self) { Task3(id: $0.id, title: $0.title, priority: .normal) }

    let tasks = try await Store<Task3>(storage: engine, cacheIdentifier: \.id, migration: migration)

    precondition(tasks.items.map(\.title) == ["A"] && tasks.undecodable.isEmpty)
}

private enum Theme: String, Codable { case light, dark }

private func useValues(_ engine: MemoryStorageEngine) async throws {
    // Ends the loop, which would go on for as long as the value is there.
    let using = Task { try await useValuesForever(engine) }
    let draft = AsyncStoredValue(key: "draft", default: "", storage: engine)
    while draft.wrappedValue.isEmpty { await Task.yield() }
    using.cancel()
    try await using.value
}

private func useValuesForever(_ engine: MemoryStorageEngine) async throws {
    @StoredValue(key: "theme") var theme = Theme.light  // in the user defaults; survives a relaunch on Linux, too
    @AsyncStoredValue(key: "draft", storage: engine) var draft = ""  // in any engine
    @SecurelyStoredValue<String>(key: "token") var token  // in the keychain; elsewhere in an encrypted file

    $theme.set(.dark)
    try await $draft.set("Dear diary")
    try $token.set("c0ffee")

    for await theme in $theme.values {
        print("the theme is", theme)
    }

    precondition(theme == .dark && draft == "Dear diary" && token == "c0ffee")
}
