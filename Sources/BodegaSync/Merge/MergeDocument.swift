import Foundation
import RecordCoder

/// One version of an item.
struct MergeDocument {
    let data: Data
    let bytes: [UInt8]
    /// `nil` if the item is not JSON in UTF-8 or is nested too deeply.
    let root: MergeNode?

    init(_ data: Data, _ values: inout MergeValues) {
        self.data = data
        let bytes = [UInt8](data)
        self.bytes = bytes
        root = bytes.withUnsafeBytes { MergeNode.document($0, &values) }
    }
}

/// A value in a text of JSON.
struct MergeNode {
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

    /// The maximum nesting depth, which keeps the recursion from exhausting the stack.
    private static let deepest = 500

    /// Reads a text.
    ///
    /// - Returns: `nil` if it is not JSON in UTF-8, or nested more than 500 levels deep.
    static func document(_ bytes: UnsafeRawBufferPointer, _ values: inout MergeValues) -> MergeNode? {
        guard isValidUTF8(bytes) else { return nil }
        var scanner = JSONScanner(bytes)
        do {
            let root = try read(&scanner, &values, depth: 0)
            scanner.skipWhitespace()
            return scanner.position == bytes.count ? root : nil
        } catch {
            // A text that is not JSON is a result here, not a failure.
            return nil
        }
    }

    private static func read(
        _ scanner: inout JSONScanner, _ values: inout MergeValues, depth: Int
    ) throws(JSONScanError) -> MergeNode? {
        scanner.skipWhitespace()
        switch try scanner.peek() {
        case UInt8(ascii: "["): return depth < deepest ? try array(&scanner, &values, depth: depth) : nil
        case UInt8(ascii: "{"): return depth < deepest ? try object(&scanner, &values, depth: depth) : nil
        default:
            let range = try scanner.skipValue()
            return MergeNode(
                value: values.scalar(UnsafeRawBufferPointer(rebasing: scanner.bytes[range])), range: range,
                content: .scalar)
        }
    }

    private static func array(
        _ scanner: inout JSONScanner, _ values: inout MergeValues, depth: Int
    ) throws(JSONScanError) -> MergeNode? {
        let start = scanner.position
        var elements: [MergeNode] = []
        try scanner.expect(UInt8(ascii: "["))
        while try !scanner.ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            guard let element = try read(&scanner, &values, depth: depth + 1) else { return nil }
            elements.append(element)
        }
        return MergeNode(
            value: values.number(of: .array(elements.map(\.value))), range: start..<scanner.position,
            content: .array(elements))
    }

    private static func object(
        _ scanner: inout JSONScanner, _ values: inout MergeValues, depth: Int
    ) throws(JSONScanError) -> MergeNode? {
        let start = scanner.position
        var members: [Member] = []
        var byName: [Int: Int] = [:]
        try scanner.expect(UInt8(ascii: "{"))
        while try !scanner.ends(UInt8(ascii: "}"), isFirst: members.isEmpty) {
            let content = try scanner.skipString()
            let range = content.lowerBound - 1..<content.upperBound + 1
            try scanner.expect(UInt8(ascii: ":"))
            guard let value = try read(&scanner, &values, depth: depth + 1) else { return nil }
            let name = values.scalar(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
            members.append(Member(name: name, nameRange: range, value: value))
            byName[name] = value.value
        }
        let range = start..<scanner.position
        guard byName.count == members.count else {
            let texts = members.flatMap { [$0.name, $0.value.value] }
            return MergeNode(value: values.number(of: .ambiguous(texts)), range: range, content: .ambiguous)
        }
        return MergeNode(value: values.number(of: .object(byName)), range: range, content: .object(members))
    }
}
