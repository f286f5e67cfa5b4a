import RecordCoder

/// Builds one JSON object on one line, member by member, in the order given.
struct JSONObjectWriter {
    private var bytes = [UInt8(ascii: "{")]

    /// The members of an object. Those that are `nil` are left out.
    typealias Members = KeyValuePairs<String, (any JSONMember)?>

    /// The line of an object with some members.
    static func line(_ members: Members...) -> [UInt8] {
        var object = JSONObjectWriter()
        for case (let name, let value?) in members.joined() { object.add(name, value) }
        return object.line()
    }

    /// Adds a member.
    mutating func add(_ name: String, _ value: some JSONMember) {
        begin(name)
        value.encode(into: &bytes)
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

    /// Ends the object with a line feed.
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

/// A value of a member of a JSON object.
protocol JSONMember {
    /// Appends the value as JSON.
    func encode(into bytes: inout [UInt8])
}

extension String: JSONMember {
    func encode(into bytes: inout [UInt8]) { JSONString.encode(self, into: &bytes) }
}

extension Int: JSONMember {
    func encode(into bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension [String]: JSONMember {
    func encode(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, string) in enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            string.encode(into: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }
}

extension Console {
    /// Prints a JSON object on a line.
    func print(_ members: JSONObjectWriter.Members) throws {
        try JSONObjectWriter.line(members).withUnsafeBytes(output.write)
    }

    /// Prints the number of items.
    func print(count: Int, asJSON isJSON: Bool) throws {
        if isJSON { try print(["count": count]) } else { try output.write("\(count)\n") }
    }
}
