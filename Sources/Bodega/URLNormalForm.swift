/// A URL without what doesn't distinguish items: its scheme, a leading `www.` of its host, one trailing slash.
///
/// Only `www.` of a host with credentials before it is cut out of the middle. The rest is a part of the URL's text, so
/// that a key can be hashed without a copy.
struct URLNormalForm {
    private let url: String
    /// Where in the UTF-8 of the URL the credentials are, with their `@`.
    private let credentials: Range<Int>
    /// Where in the UTF-8 of the URL everything behind the credentials is.
    private let rest: Range<Int>

    /// - Parameter url: The whole text of a URL.
    init(of url: String) {
        var url = url
        (credentials, rest) = url.withUTF8(Self.parts)
        self.url = url
    }

    /// Whether a text shows that it is a whole URL: it has `//` at its beginning, or behind a scheme.
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

    /// Where the scheme ends, with its colon: RFC 3986, section 3.1. 0 if there is none.
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
