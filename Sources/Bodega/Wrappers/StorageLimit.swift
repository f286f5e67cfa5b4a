/// The limits of the items of a cache or an engine. Both hold at any time.
struct StorageLimit: Sendable {
    /// The maximum number of items.
    let count: Int
    /// The maximum number of bytes of all items.
    let bytes: Int

    /// Creates limits; `nil` is none. Negative limits are zero.
    init(count: Int?, bytes: Int?) {
        self.count = max(count ?? .max, 0)
        self.bytes = max(bytes ?? .max, 0)
    }

    /// Whether a size is within the limits.
    func allows(_ size: StorageSize) -> Bool { size.count <= count && size.bytes <= bytes }

    /// The part of the capacity that a size takes; 1 is all of it.
    func share(of size: StorageSize) -> Double {
        max(Double(size.count) / Double(max(count, 1)), Double(size.bytes) / Double(max(bytes, 1)))
    }
}

/// The number of items, and of their bytes.
struct StorageSize: Sendable, Equatable {
    var count = 0
    var bytes = 0

    static func + (left: Self, right: Self) -> Self {
        Self(count: left.count + right.count, bytes: left.bytes + right.bytes)
    }

    static func += (left: inout Self, right: Self) { left = left + right }

    static func -= (left: inout Self, right: Self) {
        left.count -= right.count
        left.bytes -= right.bytes
    }
}
