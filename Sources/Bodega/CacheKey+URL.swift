public import Foundation

extension CacheKey {

    /// Creates a key from a URL.
    ///
    /// The scheme, a leading `www.` of the host and one trailing `/` don't count, so `http://www.example.com/a/` and
    /// `https://example.com/a` make equal keys.
    ///
    /// - Parameter url: The URL.
    public init(url: URL) {
        self.init(rawValue: Self.normalForm(of: url), kind: .url)
    }

    private static func normalForm(of url: URL) -> String {
        var rest = url.absoluteString[...]
        if let scheme = url.scheme { rest = rest.dropFirst(scheme.count + 1) }
        var credentials = ""
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                credentials = String(authority[...at])
                rest = rest[authority.index(after: at)...]
            }
            if rest.hasPrefix("www.") { rest = rest.dropFirst(4) }
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        return credentials + rest
    }
}
