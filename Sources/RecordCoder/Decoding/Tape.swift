/// A JSON text and its tokens.
///
/// The tape owns a copy of the text, because a decoder may outlive the call for which it was made, and because zeros
/// can follow the copy. Valid JSON contains no zero, so every scanning loop stops at the first zero at the latest, and
/// reading ``padding`` bytes from any byte of the text stays within the allocation.
struct Tape {
    /// The number of zeros after the text.
    static let padding = 16
    /// The maximum length of a text, so that offsets fit in a token: 4 GiB less ``padding``, or the maximum of `Int`.
    static let maximumCount = Int(clamping: UInt32.max) - padding
    /// The maximum nesting depth of arrays and objects, the same as Foundation's.
    static let maximumDepth = 512

    /// The text: `count` bytes followed by ``padding`` zeros, in an allocation of `byteCapacity` bytes.
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var byteCapacity: Int
    /// The number of bytes in the text.
    private(set) var count = 0

    /// The tokens, of which `tokenCount` of `tokenCapacity` are initialized. The first one is a null that is not in the
    /// text; the second one is the whole value.
    var tokens: UnsafeMutablePointer<Token>
    var tokenCapacity: Int
    var tokenCount = 0
    /// Uninitialized memory for the ``maximumDepth`` containers around the one being scanned.
    let containers: UnsafeMutablePointer<OpenContainer>

    /// The number of slots in the table of names, a power of two.
    static let nameCapacity = 256
    /// A table of ``nameCapacity`` initialized slots, which maps a ``NameHash`` to a name's token. A later name can
    /// overwrite an earlier one's slot, and slots may hold tokens of previous texts.
    let names: UnsafeMutablePointer<UInt32>

    /// The token of the whole value.
    static let root = 1

    init() {
        byteCapacity = 1_024
        bytes = .allocate(capacity: byteCapacity)
        tokenCapacity = 128
        tokens = .allocate(capacity: tokenCapacity)
        containers = .allocate(capacity: Self.maximumDepth)
        names = .allocate(capacity: Self.nameCapacity)
        names.initialize(repeating: 0, count: Self.nameCapacity)
    }

    /// Frees the memory. The tape must not be used afterwards.
    func deallocate() {
        bytes.deallocate()
        tokens.deallocate()
        containers.deallocate()
        names.deallocate()
    }

    /// Whether the tape is too large to be kept for reuse.
    var isLarge: Bool { byteCapacity > 1 << 18 || tokenCapacity > 1 << 14 }

    /// Copies a text, which replaces the previous one.
    ///
    /// - Parameter text: At most ``maximumCount`` bytes.
    mutating func load(_ text: UnsafeRawBufferPointer) {
        precondition(text.count <= Self.maximumCount)
        if text.count + Self.padding > byteCapacity {
            bytes.deallocate()
            byteCapacity = Swift.max(text.count + Self.padding, 2 * byteCapacity)
            bytes = .allocate(capacity: byteCapacity)
        }
        // In bounds: the capacity now suffices for the text and the zeros.
        if let address = text.baseAddress {
            UnsafeMutableRawPointer(bytes).copyMemory(from: address, byteCount: text.count)
        }
        UnsafeMutableRawPointer(bytes + text.count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        count = text.count
        tokenCount = 0
    }

    /// Accesses a token. The index must come from the tape: a container's own, or one after it, before its `next`.
    @inline(__always)
    subscript(index: Int) -> Token {
        get {
            assert(index >= 0 && index < tokenCount)
            return tokens[index]
        }
        nonmutating set {
            assert(index >= 0 && index < tokenCount)
            tokens[index] = newValue
        }
    }
}
