public import Foundation

extension CacheKey {

    /// Creates a key from a URL.
    ///
    /// The ``rawValue`` is the whole URL. Keys are compared by a normal form without the scheme, a leading `www.` of
    /// the host and one trailing `/`: `http://www.example.com/a/` and `https://example.com/a` make equal keys.
    ///
    /// - Parameter url: The URL.
    public init(url: URL) {
        self.init(url.absoluteString, .url, hasNormalForm: true)
    }
}
