package import Bodega
import Foundation

/// The kinds of key that the user can ask for, see `CacheKey.Kind`.
package enum KeyKind: String, Sendable, CaseIterable {
    /// A key for any string.
    case hashed
    /// A key that is a file name already.
    case verbatim
    /// A key made from a URL.
    case url

    /// Makes a key.
    ///
    /// - Parameter string: The string.
    /// - Returns: The key, `nil` if the string is not a URL but should be.
    package func key(_ string: String) -> CacheKey? {
        switch self {
        case .hashed: CacheKey(string)
        case .verbatim: CacheKey(verbatim: string)
        case .url: URL(string: string).map(CacheKey.init(url:))
        }
    }
}
