import Foundation

extension TreeMerge {
    /// Decides about a value in items that are JSON.
    mutating func decide(_ nodes: Versions<MergeNode?>) -> Decision {
        let (base, local, remote) = (nodes.base?.value, nodes.local?.value, nodes.remote?.value)
        if local == remote || base == local { return .take(.remote) }
        if base == remote { return .take(.local) }
        if nodes.local != nil, nodes.remote != nil {
            if canMergeMembers(nodes) { return .mergeMembers }
            if canMergeElements(nodes) { return .mergeElements }
        }
        return decideConflict { side, merge in nodes[side].map { Data(merge.bytes(side)[$0.range]) } }
    }

    /// Decides about items one of which is not JSON.
    mutating func decideOpaque() -> Decision {
        let (base, local, remote) = (documents.base, documents.local, documents.remote)
        // An item that has only been reformatted has not changed.
        if local.isSame(as: remote) || base.isSame(as: local) { return .take(.remote) }
        if base.isSame(as: remote) { return .take(.local) }
        return decideConflict { side, merge in merge.documents[side]?.data }
    }

    private func canMergeMembers(_ nodes: Versions<MergeNode?>) -> Bool {
        guard let local = nodes.local?.members, let remote = nodes.remote?.members else { return false }
        if case .ambiguous = nodes.base?.content { return false }
        let base = nodes.base?.members
        // The cases of an enumeration.
        guard local.count == 1, remote.count == 1, base?.count ?? 1 == 1 else { return true }
        switch rule {
        case .preferring: return local[0].name == remote[0].name
        // Another name in the stored item alone is no other case but a member that is not known.
        case .keepingUnknown: return local[0].name == (base ?? remote)[0].name
        }
    }

    private func canMergeElements(_ nodes: Versions<MergeNode?>) -> Bool {
        rule == .keepingUnknown && nodes.base?.elements != nil && nodes.local?.elements != nil
            && nodes.remote?.elements != nil
    }

    /// Decides about a value that both sides have changed.
    ///
    /// - Parameter text: The text of a side's value, `nil` if the side has removed it.
    private mutating func decideConflict(_ text: (MergeSide, TreeMerge) -> Data?) -> Decision {
        guard case .preferring(let preference) = rule else { return .take(.local) }
        let (local, remote) = (text(.local, self), text(.remote, self))
        if remote == nil || local != nil && preference == .local {
            losses.append(MergeLoss(path: pathText, lost: remote, side: .remote))
            return .take(.local)
        }
        losses.append(MergeLoss(path: pathText, lost: local, side: .local))
        return .take(.remote)
    }

    /// The normalized path of the current value: RFC 9535, section 2.7.
    private var pathText: String {
        containers.compactMap(\.current.name).reduce(into: "$") { text, name in
            let content = bytes(name.side)[name.range].dropFirst().dropLast()
            content.withUnsafeBytes { text += NormalizedPath.selector($0) }
        }
    }
}

extension MergeDocument? {
    /// Whether the bytes or, in JSON, the values are equal.
    fileprivate func isSame(as other: MergeDocument?) -> Bool {
        if self?.data == other?.data { return true }
        guard let value = self?.root?.value else { return false }
        return value == other?.root?.value
    }
}
