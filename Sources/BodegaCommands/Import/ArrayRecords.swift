/// Records that are the elements of an array in a JSON document. One element at a time is in memory, and of what
/// stands beside the array, one value.
package struct ArrayRecords: RecordSource {
    private var stream: JSONStream
    private let path: [String]
    private let key: RecordKey
    private var state = State.before
    private var element = 0
    package let total: Int?

    private enum State {
        case before, atFirst, behindElement, finished
    }

    /// Reads an array.
    ///
    /// - Parameters:
    ///   - window: The input.
    ///   - total: The number of bytes in it, if known.
    ///   - array: Where in the document the array is, `nil` if it is the document.
    ///   - key: How the keys of the elements are made.
    init(_ window: InputWindow, total: Int?, array: JSONPath?, key: RecordKey) {
        self.stream = JSONStream(window)
        self.total = total
        self.path = array?.names ?? []
        self.key = key
    }

    package var progress: Int { stream.consumed }

    package mutating func next() throws -> ImportRecord? {
        if state == .before { try openArray() }
        guard try moveToElement() else { return nil }
        element += 1
        _ = try stream.peek()
        let line = stream.line
        switch try stream.scan({ [key] scanner throws(JSONScanError) in try key.record(from: &scanner) }) {
        case .success(let record):
            return record
        case .failure(let flaw):
            throw BadRecord(place: "element \(element) (line \(line))", number: element, reason: flaw.reason)
        }
    }

    private mutating func openArray() throws {
        for name in path { try openObject(upTo: name) }
        guard try stream.peek() == UInt8(ascii: "[") else {
            let place = path.isEmpty ? "The document" : "\"\(path.joined(separator: "."))\""
            throw ToolError(.badInput, "\(place) is not an array. Name the array in the document with --array.")
        }
        try stream.expect(UInt8(ascii: "["))
        state = .atFirst
    }

    /// Moves to the value of a member of the object that comes next.
    private mutating func openObject(upTo name: String) throws {
        let missing = ToolError(.badInput, "The document has no \"\(name)\" on the way to the array.")
        guard try stream.peek() == UInt8(ascii: "{") else { throw missing }
        try stream.expect(UInt8(ascii: "{"))
        guard try stream.peek() != UInt8(ascii: "}") else { throw missing }
        while true {
            if try stream.scan({ scanner throws(JSONScanError) in try scanner.skipName(comparingWith: name) }) {
                return
            }
            try stream.scan { scanner throws(JSONScanError) in _ = try scanner.skipValue() }
            guard try stream.peek() != UInt8(ascii: "}") else { throw missing }
            try stream.expect(UInt8(ascii: ","))
        }
    }

    /// Moves to the next element.
    ///
    /// - Returns: Whether there is one. At the end of the array the rest of the document is checked, because a document
    ///   that was cut off is not to be taken for a whole one.
    private mutating func moveToElement() throws -> Bool {
        switch state {
        case .before, .finished:
            return false
        case .atFirst where try stream.peek() != UInt8(ascii: "]"):
            break
        case .behindElement where try stream.peek() != UInt8(ascii: "]"):
            try stream.expect(UInt8(ascii: ","))
        case .atFirst, .behindElement:
            try stream.expect(UInt8(ascii: "]"))
            for _ in path { try closeObject() }
            try stream.expectEnd()
            state = .finished
            return false
        }
        state = .behindElement
        return true
    }

    private mutating func closeObject() throws {
        while try stream.peek() != UInt8(ascii: "}") {
            try stream.expect(UInt8(ascii: ","))
            _ = try stream.scan { scanner throws(JSONScanError) in try scanner.skipName(comparingWith: "") }
            try stream.scan { scanner throws(JSONScanError) in _ = try scanner.skipValue() }
        }
        try stream.expect(UInt8(ascii: "}"))
    }
}
