/// Where members were found, as distances from their objects' tokens: what was written by the same program is mostly in the
/// same order.
struct NameHints {
    private static let capacity = 128
    /// Initialised: ``capacity`` distances.
    private let distances: UnsafeMutablePointer<UInt32>

    init() {
        distances = .allocate(capacity: Self.capacity)
        distances.initialize(repeating: 1, count: Self.capacity)
    }

    /// Frees the memory. The hints must not be used any more.
    func deallocate() {
        distances.deallocate()
    }

    /// Where the distance of a name is kept, perhaps that of another name.
    @inline(__always)
    func place(of name: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<UInt32> {
        guard let first = name.first else { return distances }
        let last = name[name.count &- 1]
        let middle = name[name.count &>> 1]
        let sum =
            UInt32(first) &* 31 &+ UInt32(middle) &* 7 &+ UInt32(last) &* 3 &+ UInt32(truncatingIfNeeded: name.count)
        // The remainder is a place in the table.
        return distances + Int(sum % UInt32(Self.capacity))
    }
}
