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
        var scanner = JSONScanner(bytes, at: range.lowerBound)
        do {
            guard let value = try Self.read(&scanner, bytes, depth: 0) else { return nil }
            self = value
        } catch {
            // The scanner has accepted the same text before.
            assertionFailure("\(error)")
            return nil
        }
    }

    /// Reads a value in one pass: each byte is looked at once, however deeply it is nested.
    private static func read(
        _ scanner: inout JSONScanner, _ bytes: UnsafeRawBufferPointer, depth: Int
    ) throws(JSONScanError) -> JSONValue? {
        guard depth < deepest else { return nil }
        scanner.skipWhitespace()
        switch try scanner.peek() {
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try scanner.expect(UInt8(ascii: "["))
            while try !scanner.ends(UInt8(ascii: "]"), isFirst: elements.isEmpty) {
                guard let value = try read(&scanner, bytes, depth: depth + 1) else { return nil }
                elements.append(value)
            }
            return .array(elements)
        case UInt8(ascii: "{"):
            var members: [Name: JSONValue] = [:]
            try scanner.expect(UInt8(ascii: "{"))
            while try !scanner.ends(UInt8(ascii: "}"), isFirst: members.isEmpty) {
                guard let name = string(bytes, try scanner.skipString()) else { return nil }
                try scanner.expect(UInt8(ascii: ":"))
                guard let value = try read(&scanner, bytes, depth: depth + 1) else { return nil }
                if members[Name(text: name)] == nil { members[Name(text: name)] = value }
            }
            return .object(members)
        case let first:
            let range = try scanner.skipValue()
            switch first {
            case UInt8(ascii: "n"): return .null
            case UInt8(ascii: "t"): return .bool(true)
            case UInt8(ascii: "f"): return .bool(false)
            case UInt8(ascii: "\""):
                return string(bytes, range.lowerBound + 1..<range.upperBound - 1).map(JSONValue.string)
            default: return .number(JSONNumber(bytes[range]))
            }
        }
    }

    private static func string(_ bytes: UnsafeRawBufferPointer, _ content: Range<Int>) -> String? {
        JSONString.decode(UnsafeRawBufferPointer(rebasing: bytes[content]))
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
