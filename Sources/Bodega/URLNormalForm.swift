/// A URL without the parts that don't distinguish items: its scheme, a leading `www.` of its host, one trailing slash.
///
/// Without credentials, the normal form is one range of the URL's text, so that a key can be hashed without a copy.
/// With credentials, a `www.` may have to be cut out of the middle.
struct URLNormalForm {
    private let url: String
    /// The range of the credentials, with their `@`, in the URL's UTF-8.
    private let credentials: Range<Int>
    /// The range of everything after the credentials in the URL's UTF-8.
    private let rest: Range<Int>

    /// - Parameter url: The whole text of a URL.
    init(of url: String) {
        var url = url
        (credentials, rest) = url.withUTF8(Self.parts)
        self.url = url
    }

    /// Whether a text is recognizably a whole URL: it begins with `//`, or with a scheme and `//`.
    static func isWholeURL(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            let start = scheme(in: bytes)
            return bytes[start...].starts(with: "//".utf8)
        }
    }

    /// The normal form.
    var text: String { part(credentials) + part(rest) }

    /// Hashes the text as `String.hashBytes(into:)` does.
    func hash(into hasher: inout Hasher) {
        guard credentials.isEmpty else { return text.hashBytes(into: &hasher) }
        var url = url
        url.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: $0[rest]))) }
        hasher.combine(rest.count)
    }

    private func part(_ range: Range<Int>) -> String {
        let utf8 = url.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(decoding: utf8[start...].prefix(range.count), as: UTF8.self)
    }

    private static func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> (credentials: Range<Int>, rest: Range<Int>) {
        var start = scheme(in: bytes)
        var credentials = start..<start
        if bytes[start...].starts(with: "//".utf8) {
            start += 2
            let authority = bytes[start...].prefix { !endsAuthority($0) }
            credentials = start..<start
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                credentials = start..<at + 1
                start = at + 1
            }
            if bytes[start...].starts(with: "www.".utf8) { start += 4 }
        }
        let hasSlash = start < bytes.count && bytes.last == UInt8(ascii: "/")
        return (credentials, start..<bytes.count - (hasSlash ? 1 : 0))
    }

    /// The end of the scheme and its colon, 0 if there is no scheme: RFC 3986, section 3.1.
    private static func scheme(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: ":") { return index == 0 ? 0 : index + 1 }
            if endsAuthority(byte) { return 0 }
        }
        return 0
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
