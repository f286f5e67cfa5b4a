/// A text of JSON and the tokens in it.
///
/// It owns a copy of the text, because a decoder may outlive the call that it was made for, and because that copy can be
/// followed by zeros: no text of JSON contains one outside of a string, and none inside, so whatever reads on until it
/// finds something else than it expects stops at the first zero at the latest, and reading ``padding`` bytes from any byte
/// of the text stays in the allocation.
struct Tape {
    /// How many zeros follow the text.
    static let padding = 16
    /// How long a text may be, so that offsets fit into a token: 4 GiB less ``padding``, or what an `Int` can count.
    static let maximumCount = Int(clamping: UInt32.max) - padding
    /// How deep arrays and objects may be nested, as with Foundation.
    static let maximumDepth = 512

    /// The text: `count` bytes and then ``padding`` zeros, in an allocation of `byteCapacity`.
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private var byteCapacity: Int
    /// How many bytes the text has.
    private(set) var count = 0

    /// The tokens, `tokenCount` of `tokenCapacity` being initialised. The first is a null that is nowhere in the text; the
    /// second is the whole value.
    var tokens: UnsafeMutablePointer<Token>
    var tokenCapacity: Int
    var tokenCount = 0
    /// Memory for the containers around the one that is scanned: ``maximumDepth`` of them, not initialised.
    let containers: UnsafeMutablePointer<OpenContainer>

    /// How many names can be found by their hash: a power of two.
    static let nameCapacity = 256
    /// The tokens of names by ``NameHash``, as far as they haven't had to leave their places to others, and what is left of
    /// the texts before: ``nameCapacity`` of them, initialised.
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

    /// Frees the memory. The tape must not be used any more.
    func deallocate() {
        bytes.deallocate()
        tokens.deallocate()
        containers.deallocate()
        names.deallocate()
    }

    /// Whether it takes so much memory that it isn't worth keeping.
    var isLarge: Bool { byteCapacity > 1 << 18 || tokenCapacity > 1 << 14 }

    /// Takes a text over, replacing the one before.
    ///
    /// - Parameter text: At most ``maximumCount`` bytes.
    mutating func load(_ text: UnsafeRawBufferPointer) {
        precondition(text.count <= Self.maximumCount)
        if text.count + Self.padding > byteCapacity {
            bytes.deallocate()
            byteCapacity = Swift.max(text.count + Self.padding, 2 * byteCapacity)
            bytes = .allocate(capacity: byteCapacity)
        }
        // The capacity has just been made to suffice for the text and the zeros.
        if let address = text.baseAddress {
            UnsafeMutableRawPointer(bytes).copyMemory(from: address, byteCount: text.count)
        }
        UnsafeMutableRawPointer(bytes + text.count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
        count = text.count
        tokenCount = 0
    }

    /// A token. Its index is one that the tape gave out: a container's own index, one behind it and before its `next`.
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
