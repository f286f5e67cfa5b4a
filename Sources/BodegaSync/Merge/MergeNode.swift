/// A value in a text of JSON.
final class MergeNode {
    /// A member of an object.
    struct Member {
        /// The number of the name in ``MergeValues``.
        let name: Int
        /// The name with its quotes.
        let nameRange: Range<Int>
        let value: MergeNode
    }

    enum Content {
        case scalar
        case array([MergeNode])
        case object([Member])
        /// An object with two members of one name, into which nothing looks.
        case ambiguous
    }

    /// The number of the value in ``MergeValues``: equal values have equal numbers.
    let value: Int
    let range: Range<Int>
    let content: Content

    init(value: Int, range: Range<Int>, content: Content) {
        (self.value, self.range, self.content) = (value, range, content)
    }

    var isScalar: Bool {
        if case .scalar = content { true } else { false }
    }

    var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    var elements: [MergeNode]? {
        if case .array(let elements) = content { elements } else { nil }
    }
}

extension MergeNode {
    /// Whether both are objects, or both are arrays.
    func hasSameKind(as other: MergeNode) -> Bool {
        members != nil && other.members != nil || elements != nil && other.elements != nil
    }

    /// The values of members by the numbers of their names.
    static func byName(_ members: [Member]?) -> [Int: MergeNode] {
        Dictionary(uniqueKeysWithValues: (members ?? []).map { ($0.name, $0.value) })
    }
}
