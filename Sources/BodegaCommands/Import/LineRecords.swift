import RecordCoder

/// Records that are lines: newline-delimited JSON, or an export.
struct LineRecords: RecordSource {

    /// The format of the lines.
    enum Form: Sendable {
        /// A line is a JSON value that contains its key.
        case json(RecordKey)
        /// A line is an item as ``Exporter`` writes it.
        case export
    }

    private var window: InputWindow
    private let form: Form
    private var line = 0
    let total: Int?

    init(_ window: InputWindow, total: Int?, form: Form) {
        self.window = window
        self.total = total
        self.form = form
    }

    var progress: Int { window.consumed }

    var canWait: Bool { window.canWait }

    mutating func isReady(within seconds: Double) throws -> Bool {
        var start = 0
        while !hasRecord(from: &start) {
            if window.isComplete { return true }
            if try !window.grow(within: seconds) { return false }
        }
        return true
    }

    /// Whether there is a whole line that is a record, or a bad one.
    ///
    /// - Parameter start: The start of a line; moved past the lines without a record.
    private func hasRecord(from start: inout Int) -> Bool {
        window.withUnsafeBytes { bytes in
            while let length = systemFind(UInt8(ascii: "\n"), in: UnsafeRawBufferPointer(rebasing: bytes[start...])) {
                if !hasNoRecord(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])) { return true }
                start += length + 1
            }
            return false
        }
    }

    /// Whether a line is blank, or the header of an export.
    private func hasNoRecord(_ line: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(line)
        scanner.skipWhitespace()
        if scanner.position == line.count { return true }
        guard case .export = form else { return false }
        return Envelope.isHeader(atStartOf: UnsafeRawBufferPointer(rebasing: line[scanner.position...]))
    }

    mutating func next() throws -> ImportRecord? {
        while let length = try nextLineLength() {
            line += 1
            defer {
                // With the line feed, unless the last line lacks it.
                window.consume(min(length + 1, window.count))
            }
            do {
                let item = try window.withUnsafeBytes { bytes in
                    try record(from: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
                }
                if let item { return item }
            } catch var bad as BadRecord {
                if line == 1, case .json = form {
                    // The beginning of a document, as far as it comes without a long wait.
                    while window.count < 1 << 16, try window.grow(within: 0.1) {}
                    bad.reason += window.withUnsafeBytes(Self.hint)
                }
                throw bad
            }
        }
        return nil
    }

    /// The number of bytes before the next line feed or the end of the input, `nil` at the end.
    private mutating func nextLineLength() throws -> Int? {
        var searched = 0
        while true {
            let found = window.withUnsafeBytes { bytes in
                systemFind(UInt8(ascii: "\n"), in: UnsafeRawBufferPointer(rebasing: bytes[searched...]))
            }
            if let found { return searched + found }
            searched = window.count
            if try !window.readMore() { return searched > 0 ? searched : nil }
        }
    }

    private func record(from line: UnsafeRawBufferPointer) throws -> ImportRecord? {
        var scanner = JSONScanner(line)
        scanner.skipWhitespace()
        // Blank lines, and a carriage return before the line feed, are ignored.
        guard scanner.position < line.count else { return nil }
        do {
            let result: Result<ImportRecord?, RecordFlaw> =
                switch form {
                case .json(let key): try key.record(from: &scanner).map { $0 }
                case .export: try Envelope.read(from: &scanner)
                }
            let record = try result.get()
            scanner.skipWhitespace()
            guard scanner.position == line.count else {
                throw bad("There is more after the end of the JSON value, in column \(scanner.position + 1).")
            }
            return record
        } catch let flaw as RecordFlaw {
            throw bad(flaw.reason)
        } catch JSONScanError.unexpectedEnd {
            throw bad("The JSON value is not complete.")
        } catch JSONScanError.unexpectedByte(let position) {
            throw bad("It is not JSON, from column \(position + 1) on.")
        }
    }

    /// A hint for an input that is one document with an array of records, but was read as lines.
    ///
    /// - Returns: A sentence with a space before it; empty if the input is not an object.
    private static func hint(at bytes: UnsafeRawBufferPointer) -> String {
        var scanner = JSONScanner(bytes)
        var array = "data.people"
        do throws(JSONScanError) {
            try scanner.expect(UInt8(ascii: "{"))
            while true {
                let name = try scanner.skipString()
                try scanner.expect(UInt8(ascii: ":"))
                scanner.skipWhitespace()
                if try scanner.peek() == UInt8(ascii: "[") {
                    array = JSONString.decode(UnsafeRawBufferPointer(rebasing: bytes[name])) ?? array
                    break
                }
                try scanner.skipValue()
                try scanner.expect(UInt8(ascii: ","))
            }
        } catch {
            // Not JSON before an array, or too short to decide: the name is then an example.
            guard scanner.position > 0, bytes.first == UInt8(ascii: "{") else { return "" }
        }
        return " If the input is one JSON document, name the array in it, such as --array \(array)."
    }

    private func bad(_ reason: String) -> BadRecord {
        BadRecord(place: "line \(line)", number: line, reason: reason)
    }
}
