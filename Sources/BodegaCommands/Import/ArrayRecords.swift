import RecordCoder

/// Records that are the elements of an array in a JSON document. Only one element, or one value outside of the
/// array, is in memory at a time.
struct ArrayRecords: RecordSource {
    private var stream: JSONStream
    private let path: [String]
    private let key: RecordKey
    private var state = State.before
    private var element = 0
    let total: Int?

    private enum State {
        case before, beforeFirst, afterElement, finished
    }

    /// Reads an array.
    ///
    /// - Parameters:
    ///   - total: The number of bytes in it, if known.
    ///   - array: The path to the array in the document, `nil` if the document is the array.
    ///   - key: How to make the keys of the elements.
    init(_ window: InputWindow, total: Int?, array: JSONPath?, key: RecordKey) {
        self.stream = JSONStream(window)
        self.total = total
        self.path = array?.names ?? []
        self.key = key
    }

    var progress: Int { stream.consumed }

    var canWait: Bool { stream.canWait }

    /// - Returns: `false` at the end of the array, too, because more of the document may follow.
    mutating func isReady(within seconds: Double) throws -> Bool {
        if state == .finished { return true }
        if state == .before { return false }
        var isAtEnd = false
        let isComplete = try stream.isComplete(within: seconds) { [state] scanner throws(JSONScanError) in
            scanner.skipWhitespace()
            isAtEnd = try scanner.peek() == UInt8(ascii: "]")
            if isAtEnd { return }
            if state == .afterElement { try scanner.expect(UInt8(ascii: ",")) }
            try scanner.skipValue()
        }
        return isComplete && !isAtEnd
    }

    mutating func next() throws -> ImportRecord? {
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
        state = .beforeFirst
    }

    /// Moves to the value of a member of the object that comes next.
    private mutating func openObject(upTo name: String) throws {
        let missing = ToolError(.badInput, "The document has no \"\(name)\" in the path to the array. Check --array.")
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
    /// - Returns: Whether there is one. At the end of the array, the rest is checked to detect truncation.
    private mutating func moveToElement() throws -> Bool {
        switch state {
        case .before, .finished:
            return false
        case .beforeFirst where try stream.peek() != UInt8(ascii: "]"):
            break
        case .afterElement where try stream.peek() != UInt8(ascii: "]"):
            try stream.expect(UInt8(ascii: ","))
        case .beforeFirst, .afterElement:
            try stream.expect(UInt8(ascii: "]"))
            for _ in path { try closeObject() }
            try stream.expectEnd()
            state = .finished
            return false
        }
        state = .afterElement
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
