import Bodega
import BodegaTesting
import Boutique
import Foundation
import TestSupport
import Testing

/// Operations of a store that are called without waiting, compared with a dictionary that they change one after the
/// other.
@MainActor
@Suite struct ReferenceOrderTests {

    private struct Branch: Queryable, Identifiable, Equatable, Sendable {
        var id: String
        var parent: String?
        var count = 0

        static let references = [Reference("parent", \Branch.parent, to: Branch.self, in: "b", onRemoval: .remove)]
    }

    private struct Leaf: Queryable, Identifiable, Equatable, Sendable {
        var id: String
        var branch: String?

        static let references = [Reference("branch", \Leaf.branch, to: Branch.self, in: "b", onRemoval: .remove)]
    }

    private struct Model {
        var branches: [String: Branch] = [:]
        var leaves: [String: Leaf] = [:]

        mutating func remove(_ id: String) {
            guard branches.removeValue(forKey: id) != nil else { return }
            leaves = leaves.filter { $0.value.branch != id }
            for child in branches.values.filter({ $0.parent == id }) { remove(child.id) }
        }
    }

    @Test(arguments: [false, true])
    func `What follows from a removal precedes what was called after it`(inFile: Bool) async throws {
        print("operations with references: EMPORIUM_SEED=\(Seed.current)")
        var random = SeededGenerator(seed: Seed.current)
        let folder = TemporaryFolder()
        let (memory, file) = (
            MemoryStorageEngine(),
            try SQLiteStorageEngine(openingFile: folder.file("a"), durability: .relaxed)
        )
        let engines: [any StorageEngine] =
            inFile
            ? [try file.collection(named: "b"), try file.collection(named: "l")]
            : [memory.collection(named: "b"), memory.collection(named: "l")]
        let branches = try await Store<Branch>(storage: engines[0])
        let leaves = try await Store<Leaf>(storage: engines[1])
        let names = ["p", "q", "r", "s"]
        for round in 0..<60 {
            var model = Model()
            try await branches.removeAll()
            try await leaves.removeAll()
            for name in names.prefix(3) {
                let parent = Bool.random(using: &random) ? "p" : nil
                model.branches[name] = Branch(id: name, parent: name == "p" ? nil : parent)
                model.leaves[name] = Leaf(id: name, branch: name)
            }
            for name in names.prefix(3) {
                let (branch, leaf) = (model.branches[name], model.leaves[name])
                try await branches.insert(try #require(branch))
                try await leaves.insert(try #require(leaf))
            }
            var tasks: [Task<Void, any Error>] = []
            for _ in 0..<6 {
                let id = names[Int.random(in: 0..<names.count, using: &random)]
                let parent = names[Int.random(in: 0..<names.count, using: &random)]
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let branch = Branch(id: id, parent: parent == id ? nil : parent)
                    model.branches[id] = branch
                    tasks.append(Task { try await branches.insert(branch) })
                case 2, 3:
                    model.remove(id)
                    tasks.append(Task { try await branches.remove(id: id) })
                case 4:
                    let count = model.branches.values.filter { $0.parent == parent }.count
                    model.branches[id] = Branch(id: id, parent: nil, count: count)
                    tasks.append(
                        Task {
                            try await branches.transaction { transaction in
                                let count = transaction.items.filter { $0.parent == parent }.count
                                transaction.insert(Branch(id: id, parent: nil, count: count))
                            }
                        })
                default:
                    model.remove(id)
                    tasks.append(Task { try await branches.transaction { $0.remove(id: id) } })
                }
            }
            for task in tasks { try await task.value }
            let place = "round \(round)"
            #expect(Dictionary(uniqueKeysWithValues: branches.items.map { ($0.id, $0) }) == model.branches, "\(place)")
            #expect(Dictionary(uniqueKeysWithValues: leaves.items.map { ($0.id, $0) }) == model.leaves, "\(place)")
            let stored = try await ObjectStorage<Branch>(storage: engines[0]).fetchAllObjects()
            #expect(Dictionary(uniqueKeysWithValues: stored.objects.map { ($0.id, $0) }) == model.branches, "\(place)")
        }
    }
}
