/// Records that are lines: newline-delimited JSON, or an export.
package struct LineRecords: RecordSource {

    /// How a line becomes an item.
    package enum Form: Sendable {
        /// A line is a JSON value with its key somewhere in it.
        case json(RecordKey)
        /// A line is an item as ``Exporter`` writes it.
        case export
    }

    private var window: InputWindow
    private let form: Form
    private var line = 0
    package let total: Int?

    init(_ window: InputWindow, total: Int?, form: Form) {
        self.window = window
        self.total = total
        self.form = form
    }

    package var progress: Int { window.consumed }

    package mutating func next() throws -> ImportRecord? {
        while let length = try nextLineLength() {
            line += 1
            defer {
                // The line feed too, unless the last line lacks it.
                window.consume(min(length + 1, window.count))
            }
            let item = try window.withUnsafeBytes { bytes in
                do {
                    return try record(from: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
                } catch var bad as BadRecord {
                    if line == 1, case .json = form { bad.reason += Self.hint(at: bytes) }
                    throw bad
                }
            }
            if let item { return item }
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
        // Blank lines, and a carriage return before the line feed, don't count.
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
            throw bad("It is not JSON from column \(position + 1) on.")
        }
    }

    /// What helps if the input is a document with the records in an array, which was taken for lines.
    ///
    /// - Parameter bytes: The beginning of the input.
    /// - Returns: A sentence with a space before it; nothing if the input is no object.
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
            // Not JSON up to an array, or too short to tell: the name is an example then.
            guard scanner.position > 0, bytes.first == UInt8(ascii: "{") else { return "" }
        }
        return " If the input is one JSON document, name the array in it, such as --array \(array)."
    }

    private func bad(_ reason: String) -> BadRecord {
        BadRecord(place: "line \(line)", number: line, reason: reason)
    }
}
