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
    private var output: [UInt8] = []
    var losses: [MergeLoss] = []
    /// The containers of the current value, outermost first.
    private(set) var containers: [Container] = []

    init(_ documents: Versions<MergeDocument?>, by rule: Rule) {
        (self.documents, self.rule) = (documents, rule)
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

    /// Writes a value that is merged inside, without recursion.
    private mutating func write(_ decision: Decision, _ nodes: Versions<MergeNode?>) {
        begin(decision, nodes)
        while let container = containers.last {
            guard container.next < container.parts.count else {
                output.append(container.closing)
                containers.removeLast()
                continue
            }
            let part = container.parts[container.next]
            containers[containers.count - 1].next += 1
            let decision = decide(part.nodes)
            if case .take(let side) = decision, part.nodes[side] == nil { continue }
            if output.count > container.start { output.append(UInt8(ascii: ",")) }
            if let name = part.name {
                output += bytes(name.side)[name.range]
                output.append(UInt8(ascii: ":"))
            }
            begin(decision, part.nodes)
        }
    }

    /// Writes a value that is taken from a side, or begins one that is merged inside.
    private mutating func begin(_ decision: Decision, _ nodes: Versions<MergeNode?>) {
        switch decision {
        case .take(let side):
            if let range = nodes[side]?.range { output += bytes(side)[range] }
        case .mergeMembers:
            output.append(UInt8(ascii: "{"))
            containers.append(Container(Self.members(of: nodes), closing: UInt8(ascii: "}"), start: output.count))
        case .mergeElements:
            guard let elements = Self.elements(of: nodes) else { return begin(.take(.local), nodes) }
            output.append(UInt8(ascii: "["))
            containers.append(Container(elements, closing: UInt8(ascii: "]"), start: output.count))
        }
    }
}

extension TreeMerge {
    /// A member or element in the three versions of its container.
    struct Part {
        /// The name with its quotes, and the side in whose text it is; `nil` for elements.
        var name: (side: MergeSide, range: Range<Int>)?
        var nodes: Versions<MergeNode?>
    }

    /// An array or object of which a part is written.
    struct Container {
        let parts: [Part]
        let closing: UInt8
        /// Where the first part is in the output.
        let start: Int
        var next = 0

        init(_ parts: [Part], closing: UInt8, start: Int) {
            (self.parts, self.closing, self.start) = (parts, closing, start)
        }

        /// The part that is being written.
        var current: Part { parts[next - 1] }
    }

    /// The members of the remote side, then those of the local side alone.
    private static func members(of nodes: Versions<MergeNode?>) -> [Part] {
        let base = MergeNode.byName(nodes.base?.members)
        let local = MergeNode.byName(nodes.local?.members)
        let remote = MergeNode.byName(nodes.remote?.members)
        func part(_ side: MergeSide, _ member: MergeNode.Member) -> Part {
            let name = member.name
            return Part(
                name: (side, member.nameRange),
                nodes: Versions(base: base[name], local: local[name], remote: remote[name]))
        }
        let ofLocalAlone = (nodes.local?.members ?? []).filter { remote[$0.name] == nil }
        return (nodes.remote?.members ?? []).map { part(.remote, $0) } + ofLocalAlone.map { part(.local, $0) }
    }
}
