/// The names of one object's members while it is scanned: finds out whether they can be compared byte by byte.
struct MemberNames {
    /// Up to so many names are compared with each other; of more, that would take too long.
    private static let comparable: UInt32 = 64

    private let first: Int
    /// A Bloom filter of one bit a name.
    private var seen: UInt64 = 0
    /// How many names there are.
    private(set) var count: UInt32 = 0
    /// Whether some names are escaped, not ASCII or equal, or there are very many.
    private(set) var areIrregular = false

    /// No names yet.
    ///
    /// - Parameter first: The token of the first name that will be added.
    init(first: Int) {
        self.first = first
    }

    /// Adds a name, which stands behind all tokens of the members before.
    @inline(__always)
    mutating func add(_ name: Int, in tape: borrowing Tape) {
        let token = tape.tokens[name]
        count &+= 1
        if token.isIrregular || !token.isASCII || count > Self.comparable { areIrregular = true }
        let bit = Self.bit(of: UnsafePointer(tape.bytes) + Int(token.start), Int(token.count))
        if seen & bit != 0, !areIrregular { areIrregular = isRepeated(name, in: tape) }
        seen |= bit
    }

    /// One of 64 bits, chosen by the length, the first eight bytes and the last eight.
    @inline(__always)
    private static func bit(of text: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
        let head = ByteWord(at: text).bits
        let sum: UInt64
        if count < 8 {
            // The bytes behind the text, which may be the zeros, are shifted out.
            sum = head << UInt64(64 &- 8 &* count)
        } else {
            sum = head &+ ByteWord(at: text + (count &- 8)).bits &* 0x9E37_79B9_7F4A_7C15
        }
        return 1 &<< (((sum &+ UInt64(count)) &* 0xD6E8_FEB8_6659_FD93) >> 58)
    }

    @inline(never)
    private func isRepeated(_ name: Int, in tape: borrowing Tape) -> Bool {
        let token = tape.tokens[name]
        let text = UnsafePointer(tape.bytes) + Int(token.start)
        var earlier = first
        while earlier < name {
            let candidate = tape.tokens[earlier]
            if candidate.count == token.count,
                areEqual(UnsafePointer(tape.bytes) + Int(candidate.start), text, count: Int(token.count))
            {
                return true
            }
            // Behind the name's value.
            earlier = Int(tape.tokens[earlier + 1].next)
        }
        return false
    }
}
