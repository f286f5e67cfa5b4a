import Foundation
import RecordCoder

/// A merge of three versions, which writes the result while it walks through them.
struct TreeMerge {
    enum Rule: Equatable {
        /// A change prevails over a removal; otherwise the preference decides.
        case preferring(MergePreference)
        /// The local side decides, also about removals. What the remote side has beyond the base version, the program
        /// that wrote both others does not know.
        case keepingUnknown
    }

    /// What becomes of a value.
    enum Decision {
        case take(MergeSide)
        case mergeMembers
        case mergeElements
    }

    let documents: Versions<MergeDocument?>
    let rule: Rule
    /// The number of the name `id`.
    let id: Int
    var output: [UInt8] = []
    var losses: [MergeLoss] = []
    /// The names of the members around the current value, with their quotes, and the side in whose text they are.
    var path: [(side: MergeSide, name: Range<Int>)] = []

    init(_ documents: Versions<MergeDocument?>, _ values: inout MergeValues, by rule: Rule) {
        (self.documents, self.rule) = (documents, rule)
        id = values.number(of: .string(Array("id".utf8)))
    }

    /// Merges the versions.
    mutating func result() -> MergeResult {
        let roots = Versions(base: documents.base?.root, local: documents.local?.root, remote: documents.remote?.root)
        let isJSON = [documents.base, documents.local, documents.remote].allSatisfy { $0 == nil || $0?.root != nil }
        let decision = isJSON ? decide(roots) : decideOpaque()
        if case .take(let side) = decision { return MergeResult(data: documents[side]?.data, losses: losses) }
        write(decision, roots)
        return MergeResult(data: Data(output), losses: losses)
    }

    func bytes(_ side: MergeSide) -> [UInt8] { documents[side]?.bytes ?? [] }

    /// Writes a value.
    mutating func write(_ decision: Decision, _ nodes: Versions<MergeNode?>) {
        switch decision {
        case .take(let side):
            if let range = nodes[side]?.range { output += bytes(side)[range] }
        case .mergeMembers: mergeMembers(nodes)
        case .mergeElements: mergeElements(nodes)
        }
    }

    private mutating func mergeMembers(_ nodes: Versions<MergeNode?>) {
        let base = MergeNode.byName(nodes.base?.members)
        let local = MergeNode.byName(nodes.local?.members)
        let remote = MergeNode.byName(nodes.remote?.members)
        let start = output.count
        for (side, members) in [(MergeSide.remote, nodes.remote?.members), (.local, nodes.local?.members)] {
            for member in members ?? [] where side == .remote || remote[member.name] == nil {
                let values = Versions(base: base[member.name], local: local[member.name], remote: remote[member.name])
                path.append((side, member.nameRange))
                let decision = decide(values)
                if !isRemoval(decision, values) {
                    output.append(output.count == start ? UInt8(ascii: "{") : UInt8(ascii: ","))
                    output += bytes(side)[member.nameRange]
                    output.append(UInt8(ascii: ":"))
                    write(decision, values)
                }
                path.removeLast()
            }
        }
        if output.count == start { output.append(UInt8(ascii: "{")) }
        output.append(UInt8(ascii: "}"))
    }

    private func isRemoval(_ decision: Decision, _ nodes: Versions<MergeNode?>) -> Bool {
        if case .take(let side) = decision { nodes[side] == nil } else { false }
    }
}
