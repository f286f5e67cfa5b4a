import BodegaSync
import BodegaTesting
import Foundation
import TestSupport
import Testing

/// Laws of the merge, on random items. Set `EMPORIUM_SEED` to repeat a run that failed.
@Suite struct MergeAlgebraTests {
    private let seed = Seed.current

    init() { print("merges: EMPORIUM_SEED=\(seed)") }

    /// Three versions; each is rarely absent.
    private struct Example {
        let trees: (base: Tree?, local: Tree?, remote: Tree?)
        let texts: (base: Data?, local: Data?, remote: Data?)

        init(_ random: inout SeededGenerator) {
            let base = Tree.randomObject(&random, depth: 4)
            func version(_ random: inout SeededGenerator, _ tree: Tree) -> Tree? {
                Int.random(in: 0..<15, using: &random) == 0 ? nil : tree
            }
            let local = base.edited(&random, depth: 4)
            let remote = base.edited(&random, depth: 4)
            trees = (version(&random, base), version(&random, local), version(&random, remote))
            texts = (
                trees.base?.data(&random), trees.local?.data(&random), trees.remote?.data(&random)
            )
        }
    }

    private func forEachExample(_ body: (Example, inout SeededGenerator) throws -> Void) rethrows {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<TestSizes.merges { try body(Example(&random), &random) }
    }

    private func tree(_ result: MergeResult) throws -> Tree? { try result.data.map { try Tree($0) } }

    /// The merge of trees in its simplest form.
    private func naive(_ base: Tree?, _ local: Tree?, _ remote: Tree?, _ preference: MergePreference) -> Tree? {
        if base == local { return remote }
        if base == remote || local == remote { return local }
        guard let local, let remote else { return local ?? remote }
        if let left = local.members, let right = remote.members {
            let old = base?.members
            let isEnumeration =
                Set([left.count, right.count, old?.count ?? 1]) == [1] && Set(left.keys) != Set(right.keys)
            if !isEnumeration {
                let names = Set(left.keys).union(right.keys)
                let pairs = names.compactMap { name in
                    naive(old?[name], left[name], right[name], preference).map { (name, $0) }
                }
                return .object(Dictionary(uniqueKeysWithValues: pairs))
            }
        }
        return preference == .local ? local : remote
    }

    @Test("A merge gives the same value as a naive one", arguments: [MergePreference.local, .remote])
    func value(preference: MergePreference) throws {
        try forEachExample { example, _ in
            let (base, local, remote) = example.texts
            let result = JSONMerge.merge(base: base, local: local, remote: remote, preferring: preference)
            let expected = naive(example.trees.base, example.trees.local, example.trees.remote, preference)
            let value = try tree(result)
            #expect(value == expected)
        }
    }

    @Test("A version that has not changed gives way to the other one, byte for byte")
    func unchanged() throws {
        forEachExample { example, random in
            let (base, local, _) = example.texts
            let respelled = example.trees.base?.data(&random)
            let isChange = example.trees.base != example.trees.local
            for preference in [MergePreference.local, .remote] {
                let same = JSONMerge.merge(base: base, local: local, remote: local, preferring: preference)
                #expect(same == MergeResult(data: local))
                let pushed = JSONMerge.merge(base: base, local: local, remote: respelled, preferring: preference)
                #expect(pushed == MergeResult(data: isChange ? local : respelled))
                let pulled = JSONMerge.merge(base: base, local: respelled, remote: local, preferring: preference)
                #expect(pulled == MergeResult(data: local))
            }
        }
    }

    @Test("A merge gives the same value and losses if the sides are exchanged")
    func mirrored() throws {
        try forEachExample { example, _ in
            let (base, local, remote) = example.texts
            let result = JSONMerge.merge(base: base, local: local, remote: remote, preferring: .local)
            let mirrored = JSONMerge.merge(base: base, local: remote, remote: local, preferring: .remote)
            let values = try [tree(result), tree(mirrored)]
            #expect(values[0] == values[1])
            let swapped = mirrored.losses.map {
                MergeLoss(path: $0.path, lost: $0.lost, side: $0.side == .local ? .remote : .local)
            }
            #expect(Set(result.losses) == Set(swapped))
        }
    }

    @Test("Each change is in the result or among the losses, and nothing else is in either")
    func conservation() throws {
        try forEachExample { example, random in
            let (base, local, remote) = example.texts
            let preference: MergePreference = Bool.random(using: &random) ? .local : .remote
            let result = JSONMerge.merge(base: base, local: local, remote: remote, preferring: preference)
            let merged = try tree(result)
            let (old, new) = (example.trees.base?.leaves() ?? [:], merged?.leaves() ?? [:])
            let sides = [(MergeSide.local, example.trees.local), (.remote, example.trees.remote)]
            for (side, tree) in sides {
                let losses = result.losses.filter { $0.side == side }
                let leaves = tree?.leaves() ?? [:]
                for (path, leaf) in leaves where old[path] != leaf && new[path] != leaf {
                    // An object that has got members is no loss.
                    if leaf == .object([:]), new.keys.contains(where: { $0.hasPrefix(path + "[") }) { continue }
                    let loss = try #require(losses.first { path == $0.path || path.hasPrefix($0.path + "[") })
                    let lost = try Tree(try #require(loss.lost)).leaves(at: loss.path)
                    #expect(lost[path] == leaf)
                }
                for (path, leaf) in old where leaves[path] == nil && new[path] == leaf {
                    if leaf == .object([:]), leaves.keys.contains(where: { $0.hasPrefix(path + "[") }) { continue }
                    #expect(losses.contains { path == $0.path || path.hasPrefix($0.path + "[") })
                }
                for loss in losses {
                    let lost = try loss.lost.map { try Tree($0) }
                    #expect(lost == tree.flatMap { $0.value(at: loss.path) })
                    #expect(lost != example.trees.base.flatMap { $0.value(at: loss.path) })
                    #expect(lost != merged?.value(at: loss.path))
                }
            }
            let all = sides.map { $0.1?.leaves() ?? [:] }
            for (path, leaf) in new where leaf != .object([:]) { #expect(all.contains { $0[path] == leaf }) }
        }
    }

    @Test("A merge with its own result changes nothing")
    func idempotent() throws {
        try forEachExample { example, random in
            let (base, local, remote) = example.texts
            let preference: MergePreference = Bool.random(using: &random) ? .local : .remote
            let result = JSONMerge.merge(base: base, local: local, remote: remote, preferring: preference)
            let again = JSONMerge.merge(base: base, local: result.data, remote: remote, preferring: preference)
            let pushed = JSONMerge.merge(base: remote, local: result.data, remote: remote, preferring: preference)
            let value = try tree(result)
            let values = try [tree(again), tree(pushed)]
            #expect(values == [value, value])
            #expect(pushed.losses.isEmpty)
        }
    }

    @Test("Changes of different properties are all in the result, and none is lost")
    func disjoint() throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<TestSizes.merges {
            let trees = Tree.disjoint(&random, depth: 3)
            let (base, local, remote) = (trees[0].data(&random), trees[1].data(&random), trees[2].data(&random))
            for preference in [MergePreference.local, .remote] {
                for (local, remote) in [(local, remote), (remote, local)] {
                    let result = JSONMerge.merge(base: base, local: local, remote: remote, preferring: preference)
                    let value = try tree(result)
                    #expect(value == trees[3])
                    #expect(result.losses.isEmpty)
                }
            }
        }
    }
}

extension Tree {
    /// The value at a path of members with names of one letter.
    fileprivate func value(at path: String) -> Tree? {
        path.split(separator: "'").filter { Tree.names.contains(String($0)) }.reduce(self as Tree?) { tree, name in
            tree?.members?[String(name)]
        }
    }

    /// A base version, two versions with changes of different properties, and one with the changes of both.
    fileprivate static func disjoint(_ random: inout SeededGenerator, depth: Int) -> [Tree] {
        // Two members that stay: the objects are no cases of an enumeration.
        var versions: [[String: Tree]] = Array(repeating: ["y": .null, "z": .null], count: 4)
        func change(_ tree: Tree?, _ random: inout SeededGenerator) -> Tree? {
            Int.random(in: 0..<3, using: &random) == 0 ? nil : .random(&random, depth: depth - 1)
        }
        for name in Tree.names {
            let old: Tree? = Bool.random(using: &random) ? .random(&random, depth: depth - 1) : nil
            let new = change(old, &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: for (index, value) in [old, new, old, new].enumerated() { versions[index][name] = value }
            case 1: for (index, value) in [old, old, new, new].enumerated() { versions[index][name] = value }
            case 2: for (index, value) in [old, new, new, new].enumerated() { versions[index][name] = value }
            case 3 where depth > 0:
                for (index, value) in disjoint(&random, depth: depth - 1).enumerated() { versions[index][name] = value }
            default: for index in versions.indices { versions[index][name] = old }
            }
        }
        return versions.map { .object($0) }
    }
}
