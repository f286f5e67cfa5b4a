package import Bodega
import Foundation

/// The kinds of key that a user can choose, see `CacheKey.Kind`.
package enum KeyKind: String, Sendable, CaseIterable {
    /// A key for any string.
    case hashed
    /// A key that is used as a file name unchanged.
    case verbatim
    /// A key made from a URL.
    case url

    /// Makes a key.
    ///
    /// - Parameter string: The string.
    /// - Returns: The key, `nil` if the kind is ``url`` and the string is not a URL.
    package func key(_ string: String) -> CacheKey? {
        switch self {
        case .hashed: CacheKey(string)
        case .verbatim: CacheKey(verbatim: string)
        case .url: URL(string: string).map(CacheKey.init(url:))
        }
    }
}
