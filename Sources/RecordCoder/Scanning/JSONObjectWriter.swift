/// Builds one JSON object on one line, member by member, in the order given.
package struct JSONObjectWriter {
    private var bytes: [UInt8] = []
    private var isEmpty = true

    /// Begins an object.
    package init() {
        bytes.append(UInt8(ascii: "{"))
    }

    /// The members of an object. Those that are `nil` are left out.
    package typealias Members = KeyValuePairs<String, (any JSONMember)?>

    /// The line of an object with some members.
    package static func line(_ members: Members...) -> [UInt8] {
        var object = JSONObjectWriter()
        for case (let name, let value?) in members.joined() { object.add(name, value) }
        return object.line()
    }

    /// Adds a member.
    package mutating func add(_ name: String, _ value: some JSONMember) {
        begin(name)
        value.encode(into: &bytes)
    }

    /// Adds a member whose value is valid UTF-8 text.
    package mutating func add(_ name: String, text: UnsafeRawBufferPointer) {
        begin(name)
        JSONString.encode(text, into: &bytes)
    }

    /// Adds a member whose value is JSON.
    package mutating func add(_ name: String, json: UnsafeRawBufferPointer) {
        begin(name)
        bytes.append(contentsOf: json)
    }

    /// Ends the object with a line feed.
    package consuming func line() -> [UInt8] {
        bytes += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
        return bytes
    }

    /// Appends an object to a text.
    ///
    /// - Parameter body: Adds the members.
    package static func append(to bytes: inout [UInt8], _ body: (inout JSONObjectWriter) -> Void) {
        var object = JSONObjectWriter()
        bytes.append(UInt8(ascii: "{"))
        swap(&bytes, &object.bytes)
        body(&object)
        object.bytes.append(UInt8(ascii: "}"))
        swap(&bytes, &object.bytes)
    }

    /// Appends a line with an object to a text.
    ///
    /// - Parameter body: Adds the members.
    package static func appendLine(to bytes: inout [UInt8], _ body: (inout JSONObjectWriter) -> Void) {
        append(to: &bytes, body)
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func begin(_ name: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        JSONString.encode(name, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}

/// A value of a member of a JSON object.
package protocol JSONMember {
    /// Appends the value as JSON.
    func encode(into bytes: inout [UInt8])
}

/// A value that is an object in JSON.
package protocol JSONObjectMember: JSONMember {
    /// Adds the members.
    func add(to object: inout JSONObjectWriter)
}

extension JSONObjectMember {
    package func encode(into bytes: inout [UInt8]) { JSONObjectWriter.append(to: &bytes, add) }
}

extension String: JSONMember {
    package func encode(into bytes: inout [UInt8]) { JSONString.encode(self, into: &bytes) }
}

extension Int: JSONMember {
    package func encode(into bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension Bool: JSONMember {
    package func encode(into bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension Array: JSONMember where Element: JSONMember {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            element.encode(into: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }
}
