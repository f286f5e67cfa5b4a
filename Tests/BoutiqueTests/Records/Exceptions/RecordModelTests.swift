import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Random operations and failures on stores whose engine holds undecodable records, displaced items and duplicates.
///
/// In all cases, each record that the store reports stays until it is removed deliberately, and the store shows the
/// same items as a second store that is opened on the same engine.
@MainActor
@Suite struct RecordModelTests {

    /// Kinds of engines, each with a seed: the current one, or one that has found a defect.
    nonisolated private static let cases: [(kind: String, seed: UInt64)] =
        ["memory", "members", "sqlite", "disk"].map { ($0, Seed.current) } + [
            // Undoing a failed removal turned a file of the first Bodega into a record under the item's own key.
            ("disk", 6_321_873_212_947_555_479)
        ]

    @Test("No record is lost and no removed record comes back, under any key", arguments: cases)
    func model(kind: String, seed: UInt64) async throws {
        print("record model of \(kind): EMPORIUM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<max(1, TestSizes.recordHistories / (["memory", "members"].contains(kind) ? 1 : 10)) {
            let folder = TemporaryFolder()
            let base: any StorageEngine =
                ["memory", "members"].contains(kind)
                ? MemoryStorageEngine() : try openEngine(kind, at: folder, .relaxed)
            let seeded = try await self.seed(base, folder: kind == "disk" ? folder : nil, &random)
            for _ in 0..<3 {
                let problems = try await session(on: base, onlyMembers: kind == "members", &random)
                if !problems.isEmpty {
                    Issue.record("\(kind), round \(round): \(problems.joined(separator: "\n"))\nbegan: \(seeded)")
                    return
                }
            }
        }
    }

    // MARK: Initial records

    private static let ids = ["a", "b", "c", "d", "e", "copy"]

    /// Writes records of all kinds.
    ///
    /// - Parameter folder: The engine's folder, for files without keys, as the first Bodega wrote them.
    private func seed(
        _ engine: any StorageEngine, folder: TemporaryFolder?, _ random: inout SeededGenerator
    ) async throws -> [String] {
        var log: [String] = []
        for number in 0..<Int.random(in: 2...9, using: &random) {
            let id = Self.ids.randomElement(using: &random) ?? "a"
            let other = Self.ids.randomElement(using: &random) ?? "a"
            let key: CacheKey =
                switch Int.random(in: 0..<5, using: &random) {
                case 0..<2: CacheKey(id)
                case 2..<4: CacheKey(verbatim: CacheKey(id).value)
                default: CacheKey(verbatim: id)
                }
            let isGarbage = Int.random(in: 0..<3, using: &random) == 0
            let itemID = Bool.random(using: &random) ? id : other
            let data =
                isGarbage
                ? Data("{\"odd\": \(number)}".utf8)
                : try JSONEncoder().encode(Note(id: itemID, text: "seed \(number)"))
            log.append("\(key) (file of \(id)): \(isGarbage ? "odd \(number)" : "\(itemID), seed \(number)")")
            if let folder, key.kind == .verbatim {
                let file = folder.file(key.rawValue)
                if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
                try data.write(to: file)
            } else {
                try await engine.apply([.write(key: key, data: data)])
            }
        }
        return log
    }

    // MARK: Operations

    private enum Step: Sendable {
        case insert([Note])
        case remove([String])
        case removeAll
    }

    private static func steps(_ random: inout SeededGenerator) -> [Step] {
        func id() -> String { ids.randomElement(using: &random) ?? "a" }
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                return .insert(
                    (0..<Int.random(in: 1...2, using: &random)).map { _ in
                        Note(
                            id: id(),
                            text: "\(UInt16.random(in: 0...UInt16.max, using: &random))",
                            weight: Int.random(in: 0..<40, using: &random) == 0 ? .infinity : 0
                        )
                    })
            case 10..<18: return .remove((0..<Int.random(in: 1...2, using: &random)).map { _ in id() })
            default: return .removeAll
            }
        }
    }

    private static func run(_ steps: [Step], asTransaction: Bool, on store: Store<Note>) async throws {
        if asTransaction {
            try await store.transaction { notes in
                for step in steps {
                    switch step {
                    case .insert(let items): notes.insert(items)
                    case .remove(let ids): for id in ids { notes.remove(id: id) }
                    case .removeAll: notes.removeAll()
                    }
                }
            }
            return
        }
        var chain = try await store.insert([]).insert([])
        for step in steps {
            switch step {
            case .insert(let items): chain = try await chain.insert(items)
            case .remove(let ids): chain = try await chain.remove(ids.map { Note(id: $0) })
            case .removeAll: chain = try await chain.removeAll()
            }
        }
        try await chain.run()
    }

    private static func apply(_ steps: [Step], to model: inout [String: Note]) {
        for step in steps {
            switch step {
            case .insert(let items): for item in items { model[item.id] = item }
            case .remove(let ids): for id in ids { model[id] = nil }
            case .removeAll: model = [:]
            }
        }
    }

    /// The calls in order, and their outcomes.
    @MainActor private final class Log {
        var calls: [(steps: [Step], isDone: Bool)] = []

        var text: [String] { calls.map { "\($0.isDone ? "done" : "failed"): \($0.steps)" } }
    }

    // MARK: Checks

    /// Opens a store, performs random operations, and compares the store, the engine, and a second store.
    ///
    /// - Returns: The differences.
    private func session(
        on base: any StorageEngine, onlyMembers: Bool, _ random: inout SeededGenerator
    ) async throws -> [String] {
        let engine = FaultInjectingStorageEngine(AnyStorageEngine(base: base))
        let store = try await Store<Note>(storage: onlyMembers ? MembersStorageEngine(base: engine) : engine)
        var model = Dictionary(uniqueKeysWithValues: store.items.map { ($0.id, $0) })
        let reported = Set(try await store.undecodableData().map(\.data))
        let before = try await base.fetchAll().map { "\($0.key)=\(text($0.data))" }

        var faults: [String] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let number = StorageFault.Occurrence.number(.random(in: 1...4, using: &random))
            let fault: StorageFault =
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: .tear(afterFirst: .random(in: 0...4, using: &random), number)
                case 2: .failAfterwards(.writes, number)
                // Without the throwing methods, an item that can't be read looks absent.
                case 3 where !onlyMembers: .fail(.reads, number)
                default: .fail(.writes, number)
                }
            faults.append("\(fault.effectText) \(number)")
            engine.inject(fault)
        }
        let log = Log()
        let tasks = (0..<3).map { _ in
            let calls = (0..<2).map { _ in (Self.steps(&random), Bool.random(using: &random)) }
            return Task {
                for (steps, asTransaction) in calls {
                    let number = log.calls.count
                    log.calls.append((steps, false))
                    do {
                        try await Self.run(steps, asTransaction: asTransaction, on: store)
                        log.calls[number].isDone = true
                    } catch {
                        // A failed call must have changed nothing, which the comparison with the model checks.
                    }
                }
            }
        }
        for task in tasks { await task.value }
        for call in log.calls where call.isDone { Self.apply(call.steps, to: &model) }
        engine.clearFaults()
        // This call determines all outcomes that are still unknown.
        let found = try await store.undecodableData()

        var problems: [String] = []
        func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
            if !condition { problems.append(problem()) }
        }
        let items = Dictionary(uniqueKeysWithValues: store.items.map { ($0.id, $0) })
        expect(items == model, "memory \(items.values.map(text)), model \(model.values.map(text))")
        // Duplicate records of an item are removed together with it.
        let removed = Self.removedIDs(log.calls.filter(\.isDone).flatMap(\.steps))
        let kept = reported.filter { data in noteID(data).map { !removed.contains($0) } ?? true }
        expect(
            Set(found.map(\.data)).isSuperset(of: kept),
            "lost: \(kept.subtracting(found.map(\.data)).map(text))")
        expect(
            found.count == store.undecodable.count,
            "reported \(store.undecodable.compactMap(\.key)), there are \(found.map(\.key))")

        let after = try await base.fetchAll()
        expect(
            after.count == items.count + found.count,
            "\(after.count) records, \(items.count) items, \(found.count) reported")

        let fresh = try await Store<Note>(storage: base)
        let freshItems = Dictionary(uniqueKeysWithValues: fresh.items.map { ($0.id, $0) })
        expect(freshItems == items, "fresh \(freshItems.values.map(text)), memory \(items.values.map(text))")
        let keys = Set(store.undecodable.compactMap(\.key))
        let freshKeys = Set(fresh.undecodable.compactMap(\.key))
        expect(freshKeys == keys, "reported \(keys), by a new store \(freshKeys)")

        if Int.random(in: 0..<3, using: &random) == 0, problems.isEmpty {
            try await store.removeUndecodable()
            try await store.reload()
            let left = Dictionary(uniqueKeysWithValues: store.items.map { ($0.id, $0) })
            expect(
                left == items, "after removeUndecodable(): \(left.values.map(text)), before \(items.values.map(text))")
            expect(store.undecodable.isEmpty, "came back: \(store.undecodable)")
        }
        if problems.isEmpty { return [] }
        return problems + ["before: \(before)", "faults: \(faults)"] + log.text
            + ["after: \(after.map { "\($0.key)=\(text($0.data))" })"]
    }

    private static func removedIDs(_ steps: [Step]) -> Set<String> {
        steps.reduce(into: []) { removed, step in
            switch step {
            case .insert: break
            case .remove(let ids): removed.formUnion(ids)
            case .removeAll: removed.formUnion(ids)
            }
        }
    }

    /// Returns the identifier of the note in a record, or `nil` if it can't be decoded.
    private func noteID(_ data: Data) -> String? {
        do {
            return try JSONDecoder().decode(Note.self, from: data).id
        } catch {
            return nil
        }
    }

    private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
    private func text(_ note: Note?) -> String { note.map { "\($0.id): \($0.text)" } ?? "nothing" }
}

extension StorageFault {
    fileprivate var effectText: String { "\(self)" }
}

/// An engine with only the required methods, so that a batch takes many calls.
private struct MembersStorageEngine: StorageEngine {
    let base: any StorageEngine

    func write(_ data: Data, key: CacheKey) async throws { try await base.write(data, key: key) }
    func write(_ items: [(key: CacheKey, data: Data)]) async throws { try await base.write(items) }
    func read(key: CacheKey) async -> Data? { await base.read(key: key) }
    func remove(key: CacheKey) async throws { try await base.remove(key: key) }
    func removeAllData() async throws { try await base.removeAllData() }
    func keyExists(_ key: CacheKey) async -> Bool { await base.keyExists(key) }
    func allKeys() async -> [CacheKey] { await base.allKeys() }
    func createdAt(key: CacheKey) async -> Date? { await base.createdAt(key: key) }
    func updatedAt(key: CacheKey) async -> Date? { await base.updatedAt(key: key) }
}
