public import Foundation

extension CacheKey {

    /// Creates a key from a URL.
    ///
    /// The key keeps the whole URL as its ``rawValue`` and is compared by a normal form, which omits the scheme, a
    /// leading `www.` of the host and one trailing `/`: `http://www.example.com/a/` and `https://example.com/a` make
    /// equal keys.
    ///
    /// - Parameter url: The URL.
    public init(url: URL) {
        self.init(url.absoluteString, .url, hasNormalForm: true)
    }
}
