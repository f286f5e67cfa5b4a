package import Bodega
import BodegaTesting
import Boutique

/// Changes a store at random while other visitors have stores on the same data, and checks the store's events.
///
/// Each visitor has items that only it changes, items that it only inserts, and items that all visitors share.
@MainActor
package final class Visitor {
    private let name: String
    private let store: Store<Visit>
    private let removesAll: Bool
    private var random: SeededGenerator
    private var versions = 0
    /// The versions of the visitor's own items that must be told once.
    private var ownVersions: Set<String> = []
    private var replay = EventReplay()
    private let events: AsyncStream<StoreEvent<Visit>>

    /// - Parameters:
    ///   - name: A unique name of one letter.
    ///   - engine: The engine that stores the items.
    ///   - seed: The random seed.
    ///   - removesAll: Whether it may remove all items, including those of other visitors.
    package init(_ name: String, on engine: any StorageEngine, seed: UInt64, removesAll: Bool) async throws {
        self.name = name
        self.removesAll = removesAll
        random = SeededGenerator(seed: seed)
        store = try await Store<Visit>(storage: engine)
        events = store.events
        try await takeEvent()
    }

    /// Makes changes, several at a time.
    package func change(rounds: Int) async throws {
        for _ in 0..<rounds {
            let chains = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                (0..<Int.random(in: 1...3, using: &random)).map { _ in randomStep() }
            }
            noteOwnVersions(in: chains.flatMap { $0 })
            let calls = chains.map { steps in Task { [store] in try await store.run(steps) } }
            for call in calls { try await call.value }
        }
    }

    /// Makes a last change, which signals the end to the other visitors. Call it after all visitors have made their
    /// changes, because one of these may remove all items.
    package func end() async throws {
        let last = Visit(id: "end-\(name)", version: newVersion(isOwn: true))
        noteOwnVersions(in: [.insert(last)])
        try await store.insert(last)
    }

    /// Waits for the last changes of all visitors.
    ///
    /// - Parameter names: Their names.
    package func await(endsOf names: [String]) async throws {
        let ends = Set(names.map { "end-\($0)" })
        while !ends.isSubset(of: Set(replay.items.map(\.id))) { try await takeEvent() }
    }

    /// The problems after all visitors have ended.
    ///
    /// - Parameter engine: The engine that stores the items.
    package func problems(_ engine: any StorageEngine) async throws -> [String] {
        var problems = replay.problems
        let stored = try await ObjectStorage<Visit>(storage: engine).fetchAllObjects().objects
        if store.items != stored {
            problems.append("the store has \(store.items.shown)\nand the engine \(stored.shown)")
        }
        if replay.items != stored {
            problems.append("the events yield \(replay.items.shown)\nand the engine has \(stored.shown)")
        }
        if replay.reloads > 0 { problems.append("all items were reloaded \(replay.reloads) times") }
        for version in ownVersions where replay.reports[version] != 1 {
            problems.append("its own \(version) was reported \(replay.reports[version] ?? 0) times")
        }
        for (version, count) in replay.reports where count > 1 {
            problems.append("\(version) was reported \(count) times")
        }
        for item in stored where !item.version.isShared && replay.reports[item.version] != 1 {
            problems.append("\(item.version) is stored and was reported \(replay.reports[item.version] ?? 0) times")
        }
        return problems.map { "\(name): \($0)" }
    }

    /// The versions of other visitors in the events.
    package var toldOfOthers: [String] {
        replay.reports.keys.filter { !$0.hasPrefix(name) }.sorted()
    }

    private func takeEvent() async throws {
        var events = events.makeAsyncIterator()
        guard let event = await events.next() else { throw StorageError(.damaged, "The events have ended.") }
        replay.apply(event)
    }

    private func newVersion(isOwn: Bool) -> String {
        versions += 1
        return "\(name)\(versions)" + (isOwn ? "" : " shared")
    }

    /// Notes the versions that must be told: those that no other step of the same batch can replace or remove.
    private func noteOwnVersions(in steps: [Step]) {
        if steps.contains(where: \.removesAll) { return }
        let changes = Dictionary(steps.compactMap(\.id).map { ($0, 1) }, uniquingKeysWith: +)
        for case .insert(let visit) in steps where !visit.version.isShared && changes[visit.id] == 1 {
            ownVersions.insert(visit.version)
        }
    }

    private func randomStep() -> Step {
        let number = Int.random(in: 0..<6, using: &random)
        switch Int.random(in: 0..<(removesAll ? 101 : 100), using: &random) {
        case 0..<35: return .insert(Visit(id: "own-\(name)-\(number)", version: newVersion(isOwn: true)))
        case 35..<50: return .remove("own-\(name)-\(number)")
        case 50..<65: return .insert(Visit(id: "only-\(name)-\(versions)", version: newVersion(isOwn: true)))
        case 65..<85: return .insert(Visit(id: "shared-\(number)", version: newVersion(isOwn: false)))
        case 85..<100: return .remove("shared-\(number)")
        default: return .removeAll
        }
    }
}

private enum Step: Sendable {
    case insert(Visit)
    case remove(String)
    case removeAll

    var id: String? {
        switch self {
        case .insert(let visit): visit.id
        case .remove(let id): id
        case .removeAll: nil
        }
    }

    var removesAll: Bool { id == nil }
}

extension Store<Visit> {
    fileprivate func run(_ steps: [Step]) async throws {
        // Begin with an empty operation, because only a method of the store can begin a chain.
        var chain = try await insert([]).insert([])
        for step in steps {
            switch step {
            case .insert(let visit): chain = try await chain.insert(visit)
            case .remove(let id): chain = try await chain.remove(id: id)
            case .removeAll: chain = try await chain.removeAll()
            }
        }
        try await chain.run()
    }
}

extension [Visit] {
    fileprivate var shown: String { map { "\($0.id)=\($0.version)" }.joined(separator: " ") }
}

extension String {
    /// Whether it is the version of a shared item.
    fileprivate var isShared: Bool { hasSuffix("shared") }
}
