/// The decoding and encoding of strings in JSON.
package enum JSONString {

    /// Decodes the content between the quotes.
    ///
    /// - Parameter content: The content of a string that ``JSONScanner`` has accepted.
    /// - Returns: The string, `nil` if it is not valid Unicode: invalid UTF-8 or a lone surrogate.
    package static func decode(_ content: UnsafeRawBufferPointer) -> String? {
        guard isValidUTF8(content) else { return nil }
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var position = 0
        while position < content.count {
            let byte = content[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            let escape = content[position]
            position += 1
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(in: content, at: &position) else { return nil }
                result.append(contentsOf: Unicode.Scalar(scalar).utf8)
            default: result.append(escape)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Appends a string in quotes. Only `"`, `\` and control characters are escaped.
    package static func encode(_ string: String, into result: inout [UInt8]) {
        var string = string
        string.withUTF8 { encode(UnsafeRawBufferPointer($0), into: &result) }
    }

    /// Appends valid UTF-8 in quotes.
    package static func encode(_ utf8: UnsafeRawBufferPointer, into result: inout [UInt8]) {
        result.reserveCapacity(result.count + utf8.count + 2)
        result.append(UInt8(ascii: "\""))
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0x0D: result += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case 0x09: result += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
            // JSON allows DEL unescaped, but terminals interpret it.
            case 0..<0x20, 0x7F: result += Array("\\u00".utf8) + [digit(byte >> 4), digit(byte & 0xF)]
            default: result.append(byte)
            }
        }
        result.append(UInt8(ascii: "\""))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Reads the digits after `\u`, and a second escape if the first is a lead surrogate.
    private static func scalar(in content: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar? {
        guard let first = unit(in: content, at: &position) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard position + 6 <= content.count, content[position] == UInt8(ascii: "\\"),
            content[position + 1] == UInt8(ascii: "u")
        else { return nil }
        position += 2
        guard let second = unit(in: content, at: &position), UTF16.isTrailSurrogate(second) else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
    }

    private static func unit(in content: UnsafeRawBufferPointer, at position: inout Int) -> UInt16? {
        guard position + 4 <= content.count else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = content[position].hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
