/// An array or object whose end the scanner has not reached.
struct OpenContainer {
    let token: Int
    let isObject: Bool
    /// The number of complete elements or members.
    var count: UInt32 = 0
    /// A Bloom filter of an object's names, with one bit for each name.
    var seen: UInt64 = 0
    /// Whether some names are escaped, not ASCII or duplicates, or there are too many.
    var isIrregular = false

    @inline(__always)
    var closing: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
}

extension TapeScanner {
    /// The number of names up to which they are compared with each other. Comparing more would take too long.
    private static var comparableNames: UInt32 { 64 }

    /// Scans the name of an object's next member and the colon after it.
    @inline(__always)
    mutating func scanName(of object: inout OpenContainer) -> Bool {
        let index = tokenCount
        guard place.pointee == UInt8(ascii: "\""), scanString(.name, next: object.token) else { return false }
        let name = tokens[index]
        if name.isIrregular || !name.isASCII || object.count >= Self.comparableNames { object.isIrregular = true }
        let hash = NameHash(inTape: text(of: name), Int(name.count))
        if object.seen & hash.bit != 0, !object.isIrregular {
            object.isIrregular = Self.isRepeated(index, since: object.token + 1, tokens, text(of: name))
        }
        object.seen |= hash.bit
        // In bounds: the table has that many slots.
        names[hash.place(in: object.token)] = UInt32(truncatingIfNeeded: index)
        skipWhiteSpace()
        guard place.pointee == UInt8(ascii: ":") else { return false }
        place += 1
        return true
    }

    /// Whether a name occurred earlier in an object.
    ///
    /// - Parameters:
    ///   - name: The name's token.
    ///   - first: The token of the object's first name.
    ///   - tokens: The tokens up to the name.
    ///   - text: The name's text.
    @inline(never)
    private static func isRepeated(
        _ name: Int,
        since first: Int,
        _ tokens: UnsafeMutablePointer<Token>,
        _ text: UnsafePointer<UInt8>
    ) -> Bool {
        let token = tokens[name]
        var earlier = first
        // In bounds: these are the names before this one, each after the previous one's value.
        while earlier < name {
            let candidate = tokens[earlier]
            let distance = Int(candidate.start) - Int(token.start)
            if candidate.count == token.count, areEqual(text + distance, text, count: Int(token.count)) { return true }
            earlier = Int(tokens[earlier + 1].next)
        }
        return false
    }
}
