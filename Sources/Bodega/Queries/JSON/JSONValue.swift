import RecordCoder

/// A JSON value that can be compared.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// The members; of several with one name the first one, as in the decoder.
    case object([Name: JSONValue])

    /// A member's name, which is compared by its bytes: two encodings of "é" are two names.
    package struct Name: Hashable, Sendable {
        let text: String

        package static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

        package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    }

    /// The maximum nesting depth, which keeps the recursion from exhausting the stack.
    private static let deepest = 500

    /// Reads a value from a part of a text that ``JSONScanner`` has accepted.
    ///
    /// - Returns: `nil` if a string is not valid Unicode or the value is nested more than 500 levels deep.
    package init?(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.init(bytes, range, depth: 0)
    }

    private init?(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, depth: Int) {
        guard let first = range.first, depth < Self.deepest else { return nil }
        switch bytes[first] {
        case UInt8(ascii: "n"): self = .null
        case UInt8(ascii: "t"): self = .bool(true)
        case UInt8(ascii: "f"): self = .bool(false)
        case UInt8(ascii: "\""):
            let content = UnsafeRawBufferPointer(rebasing: bytes[first + 1..<range.upperBound - 1])
            guard let string = JSONString.decode(content) else { return nil }
            self = .string(string)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            var isValid = true
            JSONScanner.forEachElement(of: bytes, range) { element in
                guard isValid, let value = JSONValue(bytes, element, depth: depth + 1) else { return isValid = false }
                elements.append(value)
            }
            guard isValid else { return nil }
            self = .array(elements)
        case UInt8(ascii: "{"):
            var members: [Name: JSONValue] = [:]
            var isValid = true
            JSONScanner.forEachMember(of: bytes, range) { name, element in
                guard isValid, let name = JSONString.decode(UnsafeRawBufferPointer(rebasing: bytes[name])),
                    let value = JSONValue(bytes, element, depth: depth + 1)
                else { return isValid = false }
                if members[Name(text: name)] == nil { members[Name(text: name)] = value }
            }
            guard isValid else { return nil }
            self = .object(members)
        default:
            self = .number(JSONNumber(bytes[range]))
        }
    }
}

extension JSONValue: Equatable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        // Two encodings of "é" are two strings.
        case (.string(let left), .string(let right)): left.unicodeScalars.elementsEqual(right.unicodeScalars)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Whether both are numbers or both are strings, and the left one comes first: RFC 9535, section 2.3.5.2.2.
    package static func < (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left < right
        case (.string(let left), .string(let right)):
            left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        default: false
        }
    }
}
