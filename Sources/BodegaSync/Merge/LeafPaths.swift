/// Numbers for the paths of scalars in values.
struct LeafPaths {
    /// A scalar and its place in an element.
    struct Leaf: Hashable {
        let path: Int
        let value: Int
    }

    private struct Step: Hashable {
        let parent: Int
        /// The number of the name; -1 for any element of an array.
        let name: Int
    }

    private var numbers: [Step: Int] = [:]

    /// The scalars in a value, and its empty containers.
    mutating func leaves(of root: MergeNode) -> [Leaf] {
        var leaves: [Leaf] = []
        var rest = [(path: -1, node: root)]
        while let (path, node) = rest.popLast() {
            switch node.content {
            case .object(let members) where !members.isEmpty:
                for member in members { rest.append((number(of: Step(parent: path, name: member.name)), member.value)) }
            case .array(let elements) where !elements.isEmpty:
                let number = number(of: Step(parent: path, name: -1))
                rest += elements.map { (number, $0) }
            default:
                leaves.append(Leaf(path: path, value: node.value))
            }
        }
        return leaves
    }

    private mutating func number(of step: Step) -> Int {
        if let number = numbers[step] { return number }
        numbers[step] = numbers.count
        return numbers.count - 1
    }
}
