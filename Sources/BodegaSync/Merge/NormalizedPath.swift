import RecordCoder

/// The parts of a normalized path: RFC 9535, section 2.7.
enum NormalizedPath {
    /// The selector of a member.
    ///
    /// - Parameter name: The content of a string that ``JSONScanner`` has accepted, without its quotes.
    static func selector(_ name: UnsafeRawBufferPointer) -> String {
        // What is not valid Unicode has only its own text.
        guard let text = JSONString.decode(name) else { return "['\(String(decoding: name, as: UTF8.self))']" }
        var selector = "['"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{8}": selector += "\\b"
            case "\t": selector += "\\t"
            case "\n": selector += "\\n"
            case "\u{C}": selector += "\\f"
            case "\r": selector += "\\r"
            case "'": selector += "\\'"
            case "\\": selector += "\\\\"
            case "\0"..."\u{1F}":
                selector += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: selector.unicodeScalars.append(scalar)
            }
        }
        return selector + "']"
    }
}
