/// The raw bits of a string: the bytes of a short text, otherwise the text's address and length.
///
/// Two strings with the same identity have the same bytes, as long as one of them is kept alive. Two long strings with
/// the same bytes can have different identities. Nearly all strings of keys are literals, so two comparisons recognize
/// a key that was used before.
struct TextIdentity: Equatable {
    private let first: UInt64
    private let last: UInt64

    @inline(__always)
    init(_ text: String) {
        let size = MemoryLayout<String>.size
        (first, last) = withUnsafeBytes(of: text) { bytes in
            // In bounds: a string has 16 bytes, or 12 with 32-bit pointers, where both reads share four of them.
            (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: size &- 8, as: UInt64.self)
            )
        }
    }
}
