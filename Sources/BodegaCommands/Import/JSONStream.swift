import RecordCoder

/// A JSON document that is read piece by piece: only the current piece is in memory.
struct JSONStream {
    private var window: InputWindow
    /// The number of the current line, counted from 1.
    private(set) var line = 1

    init(_ window: InputWindow) { self.window = window }

    /// The number of bytes that have been read.
    var consumed: Int { window.consumed }

    /// Whether reading can wait for a writer.
    var canWait: Bool { window.canWait }

    /// Reads until a closure can scan the text that comes next, or until some time has passed.
    ///
    /// - Parameter body: Moves the scanner; the stream stays where it is.
    /// - Returns: Whether the text is complete, or is not JSON.
    mutating func isComplete(
        within seconds: Double, _ body: (inout JSONScanner) throws(JSONScanError) -> Void
    ) throws -> Bool {
        while true {
            guard case .failure(.unexpectedEnd) = attempt(body).result, !window.isComplete else { return true }
            if try !window.grow(within: seconds) { return false }
        }
    }

    /// Moves past the text that a closure scans.
    ///
    /// - Parameter body: Moves the scanner. It is called again with more text if the text was incomplete, so it must
    ///   have no other effect.
    /// - Throws: A ``ToolError`` if the document is not JSON at that place.
    mutating func scan<Value>(_ body: (inout JSONScanner) throws(JSONScanError) -> Value) throws -> Value {
        while true {
            let (result, end) = attempt(body)
            switch result {
            case .success(let value):
                if end == window.count, endsOpen, try window.grow() { continue }
                line += lineFeeds(before: end)
                window.consume(end)
                return value
            case .failure(.unexpectedEnd):
                if try !window.grow() {
                    let last = line + lineFeeds(before: window.count)
                    throw ToolError(.badInput, "The JSON document is not complete: it ends in line \(last).")
                }
            case .failure(.unexpectedByte(let place)):
                throw ToolError(.badInput, "Line \(line + lineFeeds(before: place)) is not JSON.")
            }
        }
    }

    /// Scans the text in the window, and returns where the scan ended.
    private func attempt<Value>(
        _ body: (inout JSONScanner) throws(JSONScanError) -> Value
    ) -> (result: Result<Value, JSONScanError>, end: Int) {
        window.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONScanError) {
                let value = try body(&scanner)
                return (.success(value), scanner.position)
            } catch {
                return (.failure(error), scanner.position)
            }
        }
    }

    /// Whether the last token of the window may continue after it, as a number can.
    private var endsOpen: Bool {
        window.withUnsafeBytes { bytes in
            guard let last = bytes.last else { return false }
            return !"]},:[{\" \t\r\n".utf8.contains(last)
        }
    }

    /// Returns the next byte that is not whitespace, without moving past it.
    mutating func peek() throws -> UInt8 {
        try scan { scanner throws(JSONScanError) in
            scanner.skipWhitespace()
            return try scanner.peek()
        }
    }

    /// Moves past a byte, with whitespace before it.
    mutating func expect(_ byte: UInt8) throws {
        try scan { scanner throws(JSONScanError) in try scanner.expect(byte) }
    }

    /// Checks that only whitespace follows.
    mutating func expectEnd() throws {
        repeat {
            try scan { scanner throws(JSONScanError) in scanner.skipWhitespace() }
            guard window.count == 0 else {
                throw ToolError(.badInput, "There is more after the end of the JSON document, in line \(line).")
            }
        } while try window.readMore()
    }

    private func lineFeeds(before end: Int) -> Int {
        window.withUnsafeBytes { bytes in
            var count = 0
            for byte in UnsafeRawBufferPointer(rebasing: bytes[..<end]) where byte == UInt8(ascii: "\n") { count += 1 }
            return count
        }
    }
}
