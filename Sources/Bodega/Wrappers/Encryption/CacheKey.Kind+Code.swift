extension CacheKey.Kind {
    /// The number of the kind in encrypted items and keys.
    var code: UInt8 {
        switch self {
        case .hashed: 0
        case .url: 1
        case .verbatim: 2
        }
    }

    /// The kind with a number.
    init?(code: UInt8) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}
