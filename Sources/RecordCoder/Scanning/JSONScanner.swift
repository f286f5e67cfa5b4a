/// Finds where JSON values begin and end, without building them, and checks them against RFC 8259.
///
/// It works on bytes in place, in one pass and with constant memory, except for one byte per level of nesting. It does
/// not check that strings are valid UTF-8; see ``isValidUTF8(_:)``.
///
/// The decoder's `TapeScanner` can't replace it: that one scans whole documents only, in a copy followed by zeros,
/// reports neither the position of an error nor an incomplete text, and rejects texts that an export copies as they
/// are, such as those that are nested more than 512 levels deep, lone surrogates and `0e1`.
package struct JSONScanner {
    /// The text.
    package let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte.
    package var position: Int
    /// How deeply the containers are nested that the scanner has moved past as a part of a value.
    private var depth = 0

    package init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// Finds the value in a text that is one JSON value.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - maximumDepth: How deeply arrays and objects may be nested.
    /// - Returns: The range of the value, `nil` if the text is not JSON.
    package static func document(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int = .max) -> Range<Int>? {
        var scanner = JSONScanner(bytes)
        do {
            let range = try scanner.skipValue()
            scanner.skipWhitespace()
            return scanner.position == bytes.count && scanner.depth <= maximumDepth ? range : nil
        } catch {
            // A text that is not JSON is a result here, not a failure.
            return nil
        }
    }

    /// Moves past whitespace.
    package mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
            default: return
            }
        }
    }

    /// Returns the next byte without moving past it.
    package func peek() throws(JSONScanError) -> UInt8 {
        guard position < bytes.count else { throw .unexpectedEnd }
        return bytes[position]
    }

    /// Moves past whitespace and a certain byte.
    package mutating func expect(_ byte: UInt8) throws(JSONScanError) {
        skipWhitespace()
        guard try peek() == byte else { throw .unexpectedByte(at: position) }
        position += 1
    }

    /// Moves past whitespace and a value, however deeply nested.
    ///
    /// - Returns: The range of the value, without the whitespace.
    @discardableResult
    package mutating func skipValue() throws(JSONScanError) -> Range<Int> {
        skipWhitespace()
        let start = position
        // The enclosing containers' opening bytes. The innermost is separate, so a flat object allocates nothing.
        var outer: [UInt8] = []
        var container: UInt8?
        repeat {
            skipWhitespace()
            let first = try peek()
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                position += 1
                depth = max(depth, outer.count + (container == nil ? 1 : 2))
                skipWhitespace()
                if try peek() != Self.closing(first) {
                    if let container { outer.append(container) }
                    container = first
                    if first == UInt8(ascii: "{") { try skipName() }
                    continue
                }
                position += 1
            } else {
                try skipScalar(startingWith: first)
            }
            // A value has ended, and possibly the containers around it.
            while let innermost = container {
                skipWhitespace()
                let byte = try peek()
                if byte == UInt8(ascii: ",") {
                    position += 1
                    if innermost == UInt8(ascii: "{") { try skipName() }
                    break
                }
                guard byte == Self.closing(innermost) else { throw .unexpectedByte(at: position) }
                position += 1
                container = outer.popLast()
            }
        } while container != nil
        return start..<position
    }

    /// Moves past whitespace and a string.
    ///
    /// - Returns: The range of its content, without the quotes.
    @discardableResult
    package mutating func skipString() throws(JSONScanError) -> Range<Int> {
        try expect(UInt8(ascii: "\""))
        let start = position
        while position < bytes.count {
            // Most bytes need no look of their own.
            if position + 8 <= bytes.count, let base = bytes.baseAddress {
                let special = ByteWord(at: base + position).needingEscape
                position += special.firstMarkedByte
                if special == 0 { continue }
            }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"):
                position += 1
                try skipEscape()
            case 0..<0x20:
                throw .unexpectedByte(at: position)
            default:
                position += 1
            }
        }
        throw .unexpectedEnd
    }

    private mutating func skipName() throws(JSONScanError) {
        try skipString()
        try expect(UInt8(ascii: ":"))
    }

    private mutating func skipEscape() throws(JSONScanError) {
        switch try peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard try peek().hexadecimalDigit != nil else { throw .unexpectedByte(at: position) }
                position += 1
            }
        default:
            throw .unexpectedByte(at: position)
        }
    }

    private static func closing(_ opening: UInt8) -> UInt8 {
        opening == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }
}

/// The reason why a text is not JSON.
package enum JSONScanError: Error, Equatable {
    /// The text ends within a value.
    case unexpectedEnd
    /// The byte at this offset is not allowed there.
    case unexpectedByte(at: Int)
}
