import RecordCoder

/// Builds one JSON object on one line, member by member, in the order given.
struct JSONObjectWriter {
    private var bytes = [UInt8(ascii: "{")]

    init() {}

    mutating func add(_ name: String, _ string: String) {
        begin(name)
        JSONString.encode(string, into: &bytes)
    }

    mutating func add(_ name: String, _ number: Int) {
        begin(name)
        bytes += Array(String(number).utf8)
    }

    mutating func add(_ name: String, _ strings: [String]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, string) in strings.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONString.encode(string, into: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds a member whose value is valid UTF-8 text.
    mutating func add(_ name: String, text: UnsafeRawBufferPointer) {
        begin(name)
        JSONString.encode(text, into: &bytes)
    }

    /// Adds a member whose value is JSON.
    mutating func add(_ name: String, json: UnsafeRawBufferPointer) {
        begin(name)
        bytes.append(contentsOf: json)
    }

    /// Ends the object.
    ///
    /// - Returns: The object and a line feed.
    consuming func line() -> [UInt8] {
        bytes += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
        return bytes
    }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONString.encode(name, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
