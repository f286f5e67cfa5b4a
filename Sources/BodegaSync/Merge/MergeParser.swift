import RecordCoder

/// Reads a text of JSON in one pass, without recursion.
struct MergeParser {
    /// An array or object that has begun.
    private struct Container {
        let start: Int
        let closing: UInt8
        var elements: [MergeNode] = []
        /// The names of the elements, if it is an object.
        var names: [(number: Int, range: Range<Int>)] = []
    }

    /// The maximum nesting depth, beyond which the release of nested values could exhaust the stack.
    private static let deepest = 500

    private var scanner: JSONScanner
    private var values: MergeValues
    private var containers: [Container] = []

    /// Reads a text.
    ///
    /// - Returns: `nil` if it is not JSON in UTF-8, or nested more than 500 levels deep.
    static func document(_ bytes: UnsafeRawBufferPointer, _ values: inout MergeValues) -> MergeNode? {
        guard isValidUTF8(bytes) else { return nil }
        var parser = MergeParser(scanner: JSONScanner(bytes), values: MergeValues())
        swap(&parser.values, &values)
        defer { swap(&parser.values, &values) }
        do {
            let root = try parser.read()
            parser.scanner.skipWhitespace()
            return parser.scanner.position == bytes.count ? root : nil
        } catch {
            // A text that is not JSON is a result here, not a failure.
            return nil
        }
    }

    private init(scanner: JSONScanner, values: MergeValues) {
        (self.scanner, self.values) = (scanner, values)
    }

    private mutating func read() throws(JSONScanError) -> MergeNode {
        while true {
            var ended = try begin()
            // A value has ended, and possibly the containers around it.
            while let value = ended {
                if containers.isEmpty { return value }
                containers[containers.count - 1].elements.append(value)
                ended = try endOrNext(isFirst: false)
            }
        }
    }

    /// Reads a scalar or the start of a container.
    ///
    /// - Returns: The value if it has ended.
    private mutating func begin() throws(JSONScanError) -> MergeNode? {
        scanner.skipWhitespace()
        let first = try scanner.peek()
        if first == UInt8(ascii: "[") || first == UInt8(ascii: "{") {
            // What is nested too deeply counts as no JSON.
            guard containers.count < Self.deepest else { throw .unexpectedByte(at: scanner.position) }
            let closing = first == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}")
            containers.append(Container(start: scanner.position, closing: closing))
            try scanner.expect(first)
            return try endOrNext(isFirst: true)
        }
        let range = try scanner.skipValue()
        return MergeNode(value: number(ofScalar: range), range: range, content: .scalar)
    }

    /// Moves to the next element of the innermost container, past its name, or past the end.
    ///
    /// - Returns: The container if it has ended.
    private mutating func endOrNext(isFirst: Bool) throws(JSONScanError) -> MergeNode? {
        let closing = containers[containers.count - 1].closing
        if try scanner.ends(closing, isFirst: isFirst) { return close(containers.removeLast()) }
        if closing == UInt8(ascii: "}") {
            let content = try scanner.skipString()
            let range = content.lowerBound - 1..<content.upperBound + 1
            try scanner.expect(UInt8(ascii: ":"))
            containers[containers.count - 1].names.append((number(ofScalar: range), range))
        }
        return nil
    }

    private mutating func close(_ container: Container) -> MergeNode {
        let range = container.start..<scanner.position
        let elements = container.elements
        if container.closing == UInt8(ascii: "]") {
            let value = values.number(of: .array(elements.map(\.value)))
            return MergeNode(value: value, range: range, content: .array(elements))
        }
        let members = zip(container.names, elements).map { name, value in
            MergeNode.Member(name: name.number, nameRange: name.range, value: value)
        }
        let byName = Dictionary(members.map { ($0.name, $0.value.value) }) { first, _ in first }
        guard byName.count == members.count else {
            let value = values.number(of: .ambiguous(members.flatMap { [$0.name, $0.value.value] }))
            return MergeNode(value: value, range: range, content: .ambiguous)
        }
        return MergeNode(value: values.number(of: .object(byName)), range: range, content: .object(members))
    }

    private mutating func number(ofScalar range: Range<Int>) -> Int {
        values.scalar(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
    }
}
