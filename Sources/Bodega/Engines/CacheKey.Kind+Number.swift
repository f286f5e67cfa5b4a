extension CacheKey.Kind {
    /// The number of the kind in folders, SQLite files and PostgreSQL databases. Encrypted items have other numbers.
    package var number: Int {
        switch self {
        case .hashed: 0
        case .verbatim: 1
        case .url: 2
        }
    }

    /// The kind with a number.
    package init?(number: Int) {
        switch number {
        case 0: self = .hashed
        case 1: self = .verbatim
        case 2: self = .url
        default: return nil
        }
    }
}
