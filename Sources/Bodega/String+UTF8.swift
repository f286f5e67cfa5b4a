import Foundation

extension String {

    /// Creates a string from UTF-8.
    ///
    /// The standard library's own initializer for this needs newer Apple systems than this package.
    ///
    /// - Returns: `nil` if the bytes are not valid UTF-8.
    init?(validUTF8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid bytes, so it changes them.
        let isUnchanged: Bool?? = bytes.withContiguousStorageIfAvailable { bytes in
            utf8.withContiguousStorageIfAvailable { utf8 in
                guard let start = bytes.baseAddress, let copy = utf8.baseAddress else {
                    return utf8.count == bytes.count
                }
                return utf8.count == bytes.count && memcmp(start, copy, bytes.count) == 0
            }
        }
        guard (isUnchanged ?? nil) ?? utf8.elementsEqual(bytes) else { return nil }
    }
}

extension String {

    /// Whether two strings have the same UTF-8. Swift's `==` also accepts canonically equivalent strings.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && Self.haveEqualBytes(utf8, other.utf8)
    }

    /// Compares texts of equal length.
    private static func haveEqualBytes(_ left: String.UTF8View, _ right: String.UTF8View) -> Bool {
        // Each lookup compares a key, and a loop over the bytes would take longer than the rest of the lookup.
        let areEqual: Bool?? = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return left.isEmpty }
                return memcmp(leftStart, rightStart, left.count) == 0
            }
        }
        return (areEqual ?? nil) ?? left.elementsEqual(right)
    }

    /// Hashes what ``hasSameBytes(as:)`` compares.
    func hashBytes(into hasher: inout Hasher) {
        let hashed: Void? = utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if hashed == nil {
            for byte in utf8 { hasher.combine(byte) }
        }
        hasher.combine(utf8.count)
    }
}

extension String {
    /// The text with `%25` for `%` and `%2F` for `/`, so that a slash can end it.
    ///
    /// By scalars: a slash with a combining mark after it is another character.
    package var escapingSlashes: String {
        if !utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "/") }) { return self }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "%": text.unicodeScalars.append(contentsOf: "%25".unicodeScalars)
            case "/": text.unicodeScalars.append(contentsOf: "%2F".unicodeScalars)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text of which this is the ``escapingSlashes``.
    package var unescapingSlashes: String {
        var (text, rest) = ("", unicodeScalars[...])
        while let scalar = rest.popFirst() {
            let code = scalar == "%" ? String(String.UnicodeScalarView(rest.prefix(2))) : ""
            switch code {
            case "25": text.unicodeScalars.append("%")
            case "2F": text.unicodeScalars.append("/")
            default:
                text.unicodeScalars.append(scalar)
                continue
            }
            rest = rest.dropFirst(2)
        }
        return text
    }
}
