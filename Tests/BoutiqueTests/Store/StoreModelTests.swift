import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Random operations from many tasks on an engine that fails at random, compared with an array.
@MainActor
@Suite struct StoreModelTests {

    /// A random operation, on the store and on the model.
    private enum Action: Sendable {
        case insert([Note])
        case remove([Note])
        case removeAll
        case chain([Action])
        case increment(String)
        /// Moves a count of one from one note to another, if both are there.
        case transfer(String, String)
        case reload

        static func random(_ random: inout SeededGenerator, inChain: Bool = false) -> Action {
            func id() -> String { "\(Int.random(in: 0..<25, using: &random))" }
            func notes() -> [Note] {
                (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    Note(id: id(), text: "\(UInt16.random(in: 0...UInt16.max, using: &random))")
                }
            }
            switch Int.random(in: 0..<(inChain ? 60 : 100), using: &random) {
            case 0..<35: return .insert(notes())
            case 35..<57: return .remove(notes())
            case 57..<60: return .removeAll
            case 60..<72:
                let count = Int.random(in: 2...4, using: &random)
                return .chain((0..<count).map { _ in .random(&random, inChain: true) })
            case 72..<85: return .increment(id())
            case 85..<98: return .transfer(id(), id())
            default: return .reload
            }
        }

        @MainActor func run(on store: Store<Note>) async throws {
            switch self {
            case .insert(let notes) where notes.count == 1: try await store.insert(notes[0])
            case .insert(let notes): try await store.add(notes)
            case .remove(let notes): try await store.remove(notes)
            case .removeAll: try await store.removeAll()
            case .chain(let actions):
                // Begins with empty insertions, so that the loop can append any operation.
                var chain = try await store.insert([]).insert([])
                for action in actions {
                    switch action {
                    case .insert(let notes): chain = try await chain.insert(notes)
                    case .remove(let notes): chain = try await chain.remove(notes)
                    default: chain = try await chain.removeAll()
                    }
                }
                try await chain.run()
            case .increment(let id): try await store.update(id: id) { $0.count += 1 }
            case .transfer(let from, let to):
                try await store.transaction { notes in
                    guard notes.contains(id: from), notes.contains(id: to) else { return }
                    try notes.update(id: from) { $0.count -= 1 }
                    try notes.update(id: to) { $0.count += 1 }
                    #expect(notes.count == notes.items.count)
                }
            case .reload: try await store.reload()
            }
        }

        func apply(to model: inout [Note]) {
            switch self {
            case .insert(let notes):
                for note in notes {
                    if let place = model.firstIndex(where: { $0.id == note.id }) {
                        model[place] = note
                    } else {
                        model.append(note)
                    }
                }
            case .remove(let notes): model.removeAll { note in notes.contains { $0.id == note.id } }
            case .removeAll: model = []
            case .chain(let actions): for action in actions { action.apply(to: &model) }
            case .increment(let id):
                if let place = model.firstIndex(where: { $0.id == id }) { model[place].count += 1 }
            case .transfer(let from, let to):
                guard let first = model.firstIndex(where: { $0.id == from }) else { return }
                guard let second = model.firstIndex(where: { $0.id == to }) else { return }
                model[first].count -= 1
                model[second].count += 1
            case .reload: break
            }
        }
    }

    /// The calls in order, and whether they succeeded.
    @MainActor private final class Log {
        var calls: [(action: Action, isDone: Bool)] = []
    }

    @Test(
        "Memory, engine and every subscriber agree with a model after any operations and failures",
        arguments: ["memory", "sqlite", "disk"]
    )
    func model(kind: String) async throws {
        print("store model of \(kind): EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        var memory: [Note] = []
        let kept = MemoryStorageEngine()
        for round in 0..<(kind == "disk" ? 15 : 40) {
            // Opened again in each round, as after a relaunch.
            let base: any StorageEngine = kind == "memory" ? kept : try openEngine(kind, at: folder, .relaxed)
            memory = try await self.round("\(round)", on: base, from: memory, &random)
        }
    }

    private func round(
        _ name: String,
        on base: any StorageEngine,
        from start: [Note],
        _ random: inout SeededGenerator
    ) async throws -> [Note] {
        let engine = FaultInjectingStorageEngine(AnyStorageEngine(base: base))
        let store = try await Store<Note>(storage: engine)
        var model = store.items
        expect(model.sorted { $0.id < $1.id }, start.sorted { $0.id < $1.id }, "after reopening")

        var published: [Note] = []
        let subscription = store.$items.sink { published = $0 }
        let following = Task { [events = store.events] in await Self.follow(events) }
        let observedID = "\(Int.random(in: 0..<25, using: &random))"
        let watching = Task { [values = store.values(id: observedID)] in await Self.last(of: values, "last of \(name)")
        }

        // If an engine tears a batch, undoing it can change the order of the items.
        let isTearing = Bool.random(using: &random)
        for _ in 0..<Int.random(in: 0...6, using: &random) { engine.inject(.random(&random, tearing: isTearing)) }
        func inOrder(_ items: [Note]) -> [Note] { isTearing ? items.sorted { $0.id < $1.id } : items }
        let log = Log()
        let tasks = (0..<6).map { _ in
            let actions = (0..<12).map { _ in Action.random(&random) }
            return Task { await Self.run(actions, on: store, log) }
        }
        for task in tasks { await task.value }
        for call in log.calls where call.isDone { call.action.apply(to: &model) }
        expect(inOrder(store.items), inOrder(model), "memory")

        // The next write first determines all outcomes that are still unknown.
        engine.clearFaults()
        try await store.insert(Note(id: "end of \(name)"))
        model.append(Note(id: "end of \(name)"))
        expect(inOrder(store.items), inOrder(model), "memory")
        expect(published, store.items, "publisher")
        expect(await following.value, store.items, "events")
        expect(inOrder(try await storedNotes(in: base)), inOrder(model), "engine")
        for note in model { #expect(store[note.id] == note) }
        // A unique text, because the item may exist since an earlier round.
        let last = Note(id: observedID, text: "last of \(name)")
        try await store.insert(last)
        #expect(await watching.value == last)
        subscription.cancel()
        return store.items
    }

    private func expect(_ found: [Note], _ expected: [Note], _ what: String) {
        // Compared before the macro, which would print hundreds of lines.
        let difference = found.difference(from: expected).map { "\($0)" }.prefix(4)
        #expect(difference.isEmpty, "\(what): \(difference)")
    }

    private static func run(_ actions: [Action], on store: Store<Note>, _ log: Log) async {
        for action in actions {
            // No other call can come between this line and the call.
            let number = log.calls.count
            log.calls.append((action, false))
            do {
                try await action.run(on: store)
                log.calls[number].isDone = true
            } catch {
                // A failed call must have changed nothing, which the comparison with the model checks.
            }
        }
    }

    /// Rebuilds the items from events.
    private nonisolated static func follow(_ events: AsyncStream<StoreEvent<Note>>) async -> [Note] {
        var items: [Note] = []
        for await event in events {
            switch event.operation {
            case .initialized: items = []
            case .loaded: items = event.items
            case .insert: Action.insert(event.items).apply(to: &items)
            case .remove: Action.remove(event.items).apply(to: &items)
            }
            if event.insertedIDs.contains(where: { $0.hasPrefix("end of") }) { break }
        }
        return items
    }

    private nonisolated static func last(of values: AsyncStream<Note?>, _ text: String) async -> Note? {
        for await value in values where value?.text == text { return value }
        return nil
    }
}

extension StorageFault {
    fileprivate static func random(_ random: inout SeededGenerator, tearing: Bool) -> StorageFault {
        let number = Occurrence.number(.random(in: 1...40, using: &random))
        switch Int.random(in: tearing ? 0..<5 : 2..<5, using: &random) {
        case 0: return .tear(afterFirst: .random(in: 0...3, using: &random), number)
        case 1: return .failAfterwards(.writes, number)
        case 2: return .fail(.reads, number)
        case 3: return .fail(.writes, .from(.random(in: 20...60, using: &random)))
        default: return .fail(.writes, number)
        }
    }
}
