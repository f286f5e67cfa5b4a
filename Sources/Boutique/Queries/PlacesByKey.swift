import Bodega

/// The places of rows by their keys, in parts that copies share until one of them changes a part.
struct PlacesByKey: Sendable {
    /// The mean number of places in a part from which on there are more parts.
    private static let partSize = 128

    /// The parts, a power of two. The last bits of a key's hash choose the part.
    private var parts: [[CacheKey: QueryPlace]] = [[:]]
    private var count = 0

    subscript(key: CacheKey) -> QueryPlace? {
        get { parts[part(of: key)][key] }
        set {
            let part = part(of: key)
            count -= parts[part].count
            parts[part][key] = newValue
            count += parts[part].count
            if count > parts.count * Self.partSize { divide() }
        }
    }

    private func part(of key: CacheKey) -> Int { key.hashValue & (parts.count - 1) }

    private mutating func divide() {
        let places = parts.joined()
        parts = Array(repeating: [:], count: 4 * parts.count)
        for (key, place) in places { parts[part(of: key)][key] = place }
    }
}
