/// What a string consists of itself: a short text's bytes, else where the text lies and how long it is.
///
/// Two strings with one identity have the same bytes, as long as one of them is kept: each kind of string is told by some
/// of the bits. Two strings of the same bytes can have different identities, if they are long. The strings of keys are
/// literals, nearly always, so one that comes up again is told by its identity, in two comparisons.
struct TextIdentity: Equatable {
    private let first: UInt64
    private let last: UInt64

    @inline(__always)
    init(_ text: String) {
        let size = MemoryLayout<String>.size
        (first, last) = withUnsafeBytes(of: text) { bytes in
            // In bounds: a string has 16 bytes, or 12 where pointers have 32 bits; then both reads share four of them.
            (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: size &- 8, as: UInt64.self)
            )
        }
    }
}
