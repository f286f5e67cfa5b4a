/// The names of one object's members while it is scanned: finds out whether they can be compared byte by byte.
struct MemberNames {
    /// Up to so many names are compared with each other; of more, too many could have the same hash.
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

    /// Adds a name, whose token holds its hash, and which stands behind all tokens of the members before.
    @inline(__always)
    mutating func add(_ name: Int, in tape: borrowing Tape) {
        let token = tape.tokens[name]
        count &+= 1
        if token.isIrregular || !token.isASCII || count > Self.comparable { areIrregular = true }
        let bit: UInt64 = 1 &<< UInt64(token.next >> 26)
        if seen & bit != 0, !areIrregular { areIrregular = isRepeated(name, in: tape) }
        seen |= bit
    }

    @inline(never)
    private func isRepeated(_ name: Int, in tape: borrowing Tape) -> Bool {
        let token = tape.tokens[name]
        var earlier = first
        while earlier < name {
            let candidate = tape.tokens[earlier]
            if candidate.next == token.next, candidate.count == token.count { return true }
            earlier = Int(tape.tokens[earlier + 1].next)
        }
        return false
    }
}
