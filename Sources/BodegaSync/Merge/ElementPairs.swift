/// Finds out which elements of two arrays are the same one.
///
/// Elements have no names. A program that drops what it does not know also changes the order of some arrays, namely of
/// sets, and of dictionaries whose keys are not texts, which Swift encodes as keys and values in turn. A user inserts,
/// removes, moves and edits elements.
struct ElementPairs {
    private let elements: [MergeNode]
    private let others: [MergeNode]
    /// The index of each element's partner.
    private(set) var partners: [Int?]
    /// Whether another element has a partner, or can have none.
    private var isTaken: [Bool]

    private init(of elements: [MergeNode], in others: [MergeNode]) {
        (self.elements, self.others) = (elements, others)
        partners = Array(repeating: nil, count: elements.count)
        isTaken = Array(repeating: false, count: others.count)
    }

    private mutating func pair(_ index: Int, _ other: Int) {
        partners[index] = other
        isTaken[other] = true
    }

    private var unpaired: [Int] { elements.indices.filter { partners[$0] == nil } }
    private var free: [Int] { others.indices.filter { !isTaken[$0] } }
}

// MARK: - Stored elements

extension ElementPairs {
    /// Finds the stored elements that a program has decoded and encoded again.
    ///
    /// Equal elements belong together, and the values of equal keys; then elements that are equal in all their parts
    /// which are equal in both arrays, in any order. What remains is in the same order. If the program has not
    /// decoded all elements, objects belong together that alone have a certain value in a member.
    ///
    /// - Returns: The index of the stored element of each known one; `nil` if an element has none.
    static func counterparts(of known: [MergeNode], in stored: [MergeNode]) -> [Int]? {
        var pairs = ElementPairs(of: known, in: stored)
        if pairs.areEntries {
            pairs.pairEntries()
        } else {
            pairs.pairEqual()
        }
        if known.count == stored.count {
            pairs.pairEqualInStablePaths()
            pairs.pairSuccessors { _, _ in true }
        } else {
            pairs.pairByUniqueMembers(except: [])
        }
        let partners = pairs.partners.compactMap { $0 }
        return partners.count == known.count ? partners : nil
    }

    /// Pairs elements that are equal in all paths at which both arrays have the same values equally often.
    private mutating func pairEqualInStablePaths() {
        var paths = LeafPaths()
        let (left, right) = (unpaired, free)
        if left.count == 1 { return pair(left[0], right[0]) }
        let leftLeaves = left.map { paths.leaves(of: elements[$0]) }
        let rightLeaves = right.map { paths.leaves(of: others[$0]) }
        var surplus: [LeafPaths.Leaf: Int] = [:]
        for leaf in leftLeaves.joined() { surplus[leaf, default: 0] += 1 }
        for leaf in rightLeaves.joined() { surplus[leaf, default: 0] -= 1 }
        let unstable = Set(surplus.filter { $0.value != 0 }.keys.map(\.path))
        func signatures(_ leaves: [[LeafPaths.Leaf]]) -> [[LeafPaths.Leaf: Int]] {
            leaves.map { leaves in
                leaves.reduce(into: [:]) { if !unstable.contains($1.path) { $0[$1, default: 0] += 1 } }
            }
        }
        let (leftSignatures, rightSignatures) = (signatures(leftLeaves), signatures(rightLeaves))
        // Equal ones in the same place stay together.
        for place in left.indices where leftSignatures[place] == rightSignatures[place] {
            pair(left[place], right[place])
        }
        var rest: [[LeafPaths.Leaf: Int]: [Int]] = [:]
        for (other, signature) in zip(right, rightSignatures).reversed() where !isTaken[other] {
            rest[signature, default: []].append(other)
        }
        for (index, signature) in zip(left, leftSignatures) where partners[index] == nil {
            if let other = rest[signature]?.popLast() { pair(index, other) }
        }
    }
}

// MARK: - Edited elements

extension ElementPairs {
    /// Finds the elements that a user has kept or edited.
    ///
    /// Values of equal keys belong together. In other arrays, equal elements belong together, then objects with the
    /// same `id`; one with another `id` is new. Then as many elements as before between the same neighbours have been
    /// edited in place; otherwise objects belong together that alone have a certain value in a member. What remains is
    /// in the same order.
    ///
    /// - Returns: The index of the element from which each new one comes; `nil` if it comes from none.
    static func origins(of new: [MergeNode], in known: [MergeNode]) -> [Int?] {
        var pairs = ElementPairs(of: new, in: known)
        if pairs.areEntries {
            pairs.pairEntries()
            return pairs.partners
        }
        pairs.pairEnds()
        pairs.pairEqual()
        let isNew = pairs.pairByIdentifiers()
        pairs.pairEqualRuns(except: isNew)
        pairs.pairByUniqueMembers(except: isNew)
        pairs.pairSuccessors { index, other in
            !isNew.contains(index) && new[index].hasSameKind(as: known[other])
        }
        return pairs.partners
    }

    /// Pairs the equal elements at the start, and those at the end.
    private mutating func pairEnds() {
        let shared = min(elements.count, others.count)
        let start = (0..<shared).first { elements[$0].value != others[$0].value } ?? shared
        for index in 0..<start { pair(index, index) }
        let shift = others.count - elements.count
        for index in elements.indices.dropFirst(start).reversed() {
            guard index + shift >= start, elements[index].value == others[index + shift].value else { return }
            pair(index, index + shift)
        }
    }

    /// Pairs objects with the same identifier, if no two elements have the same one.
    ///
    /// - Returns: The elements with other identifiers.
    private mutating func pairByIdentifiers() -> Set<Int> {
        func identifiers(_ nodes: [MergeNode], _ indices: [Int]) -> [Int: Int]? {
            let all = indices.compactMap { index in
                members(nodes[index]).first { $0.name == MergeValues.id }.map { ($0.value, index) }
            }
            let byIdentifier = Dictionary(all) { first, _ in first }
            return byIdentifier.count == all.count ? byIdentifier : nil
        }
        guard let left = identifiers(elements, unpaired), let right = identifiers(others, free) else { return [] }
        for (identifier, other) in right {
            if let index = left[identifier] { pair(index, other) } else { isTaken[other] = true }
        }
        return Set(left.values.filter { partners[$0] == nil })
    }

    /// Pairs elements between the same neighbours if there are as many as before.
    private mutating func pairEqualRuns(except isNew: Set<Int>) {
        var index = 0
        while index < elements.count {
            guard partners[index] == nil else {
                index += 1
                continue
            }
            let end = elements.indices.dropFirst(index).first { partners[$0] != nil } ?? elements.count
            let start = index == 0 ? 0 : (partners[index - 1] ?? -1) + 1
            let otherEnd = others.indices.dropFirst(start).first { isTaken[$0] } ?? others.count
            let next = end < elements.count ? partners[end] : others.count
            if otherEnd == next, otherEnd - start == end - index {
                for offset in 0..<end - index
                where !isNew.contains(index + offset)
                    && elements[index + offset].hasSameKind(as: others[start + offset])
                {
                    pair(index + offset, start + offset)
                }
            }
            index = end
        }
    }

    /// Pairs objects by a member whose value is in one object of each array.
    private mutating func pairByUniqueMembers(except isNew: Set<Int>) {
        func owners(_ nodes: [MergeNode], _ indices: [Int]) -> [MemberValue: Int?] {
            var owners: [MemberValue: Int?] = [:]
            for index in indices {
                for member in members(nodes[index]) { owners[member] = owners[member] == nil ? index : .some(nil) }
            }
            return owners
        }
        let indices = unpaired.filter { !isNew.contains($0) }
        let (left, right) = (owners(elements, indices), owners(others, free))
        for index in indices {
            let owner = members(elements[index]).lazy.compactMap { member in
                left[member] == .some(index) ? right[member] ?? nil : nil
            }.first { !isTaken[$0] }
            if let owner { pair(index, owner) }
        }
    }
}

// MARK: - Both

extension ElementPairs {
    /// A member's name and value, as numbers of ``MergeValues``.
    private struct MemberValue: Hashable {
        let name: Int
        let value: Int
    }

    private func members(_ node: MergeNode) -> [MemberValue] {
        (node.members ?? []).map { MemberValue(name: $0.name, value: $0.value.value) }
    }

    /// Whether both arrays could be dictionaries as Swift encodes them if the keys are not texts.
    private var areEntries: Bool { Self.areEntries(elements) && Self.areEntries(others) }

    private static func areEntries(_ nodes: [MergeNode]) -> Bool {
        let keys = stride(from: 0, to: nodes.count, by: 2).map { nodes[$0] }
        return nodes.count.isMultiple(of: 2) && Set(keys.map(\.value)).count == keys.count
            && nodes.enumerated().allSatisfy { $1.isScalar == $0.isMultiple(of: 2) }
    }

    /// Pairs equal keys and their values.
    private mutating func pairEntries() {
        let keys = Dictionary(
            uniqueKeysWithValues: stride(from: 0, to: others.count, by: 2).map { (others[$0].value, $0) })
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard let key = keys[elements[index].value] else { continue }
            pair(index, key)
            pair(index + 1, key + 1)
        }
    }

    /// Pairs equal elements at the same index, then in their order.
    private mutating func pairEqual() {
        if elements.count == others.count {
            for index in unpaired where elements[index].value == others[index].value && !isTaken[index] {
                pair(index, index)
            }
        }
        var equal: [Int: [Int]] = [:]
        for other in free.reversed() { equal[others[other].value, default: []].append(other) }
        for index in unpaired {
            if let other = equal[elements[index].value]?.popLast() { pair(index, other) }
        }
    }

    /// Pairs each element with the one that follows its predecessor's partner.
    private mutating func pairSuccessors(where condition: (Int, Int) -> Bool) {
        var next = 0
        for index in elements.indices {
            if let partner = partners[index] {
                next = partner + 1
            } else if next < others.count, !isTaken[next], condition(index, next) {
                pair(index, next)
                next += 1
            }
        }
    }
}
