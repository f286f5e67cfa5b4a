import Foundation

extension CacheKey {
    /// Whether two keys spell the same UUID: `UUID` writes upper-case letters, and many servers write lower-case ones.
    package func isSameUUID(as other: CacheKey) -> Bool {
        guard kind == .hashed, other.kind == .hashed, let uuid = UUID(uuidString: rawValue) else { return false }
        return uuid == UUID(uuidString: other.rawValue)
    }
}
