/// Scans a text into tokens.
///
/// The scanner accepts exactly the JSON of RFC 8259, nested up to ``Tape/maximumDepth``. Foundation may accept more.
///
/// After inlining, the scanner is one function, so that its variables stay in registers. A call by address would force
/// them into memory.
struct TapeScanner {
    /// The text, followed by ``Tape/padding`` zeros. Every read starts at or before the first of them, because no
    /// scanning loop continues past a zero.
    private let text: UnsafePointer<UInt8>
    var place: UnsafePointer<UInt8>
    /// The tokens, of which `tokenCount` of `tokenCapacity` are initialized.
    private(set) var tokens: UnsafeMutablePointer<Token>
    private(set) var tokenCapacity: Int
    private(set) var tokenCount = 0
    /// The tape's table of names.
    let names: UnsafeMutablePointer<UInt32>

    /// Starts at the beginning of a text.
    ///
    /// - Parameters:
    ///   - text: The text, followed by zeros.
    ///   - tokens: Memory for tokens. The scanner may replace it with a larger allocation.
    ///   - tokenCapacity: The capacity of that memory, at least one.
    ///   - names: The tape's table of names.
    init(
        _ text: UnsafePointer<UInt8>,
        tokens: UnsafeMutablePointer<Token>,
        tokenCapacity: Int,
        names: UnsafeMutablePointer<UInt32>
    ) {
        self.text = text
        place = text
        self.tokens = tokens
        self.tokenCapacity = tokenCapacity
        self.names = names
    }

    /// Scans the text.
    ///
    /// - Parameters:
    ///   - count: The number of bytes in the text.
    ///   - outer: Memory for ``Tape/maximumDepth`` containers.
    /// - Returns: Whether the text is one value.
    @inline(__always)
    mutating func scan(count: Int, outer: UnsafeMutablePointer<OpenContainer>) -> Bool {
        append(.null, at: place, count: 0)
        // A byte-order mark.
        if count >= 3, place[0] == 0xEF, place[1] == 0xBB, place[2] == 0xBF { place += 3 }
        // The innermost container. `outer` holds the ones around it; its first slot is never read.
        var container = OpenContainer(token: 0, isObject: false)
        var depth = 0

        nextValue: while true {
            skipWhiteSpace()
            if container.isObject {
                guard scanName(of: &container) else { return false }
                skipWhiteSpace()
            }
            let byte = place.pointee
            if byte == UInt8(ascii: "\"") {
                guard scanString(.string, next: tokenCount + 1) else { return false }
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                let isObject = byte == UInt8(ascii: "{")
                guard depth < Tape.maximumDepth else { return false }
                // In bounds: depth < maximumDepth.
                outer[depth] = container
                depth &+= 1
                container = OpenContainer(token: tokenCount, isObject: isObject)
                append(isObject ? .object : .array, at: text + (tokenCount &+ 1), count: 0)
                place += 1
                skipWhiteSpace()
                if place.pointee != container.closing { continue nextValue }
                place += 1
                close(container)
                depth &-= 1
                container = outer[depth]
            } else {
                guard scanNumberOrLiteral(byte) else { return false }
            }
            // After a value.
            while true {
                skipWhiteSpace()
                if depth == 0 { return place == text + count }
                container.count &+= 1
                if place.pointee == UInt8(ascii: ",") {
                    place += 1
                    continue nextValue
                }
                guard place.pointee == container.closing else { return false }
                place += 1
                close(container)
                // In bounds: 0 <= depth < maximumDepth, and the slot was initialized when the container was opened.
                depth &-= 1
                container = outer[depth]
            }
        }
    }

    /// Completes the token of a container that has just ended.
    @inline(__always)
    private func close(_ container: OpenContainer) {
        // In bounds: the container's token has been added.
        tokens[container.token].count = container.count
        tokens[container.token].isIrregular = container.isIrregular
        tokens[container.token].next = UInt32(truncatingIfNeeded: tokenCount)
    }

    @inline(__always)
    private mutating func scanNumberOrLiteral(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): scanNumber()
        case UInt8(ascii: "t"): scanLiteral("true", .true)
        case UInt8(ascii: "f"): scanLiteral("false", .false)
        case UInt8(ascii: "n"): scanLiteral("null", .null)
        default: false
        }
    }

    @inline(__always)
    private mutating func scanLiteral(_ literal: StaticString, _ kind: Token.Kind) -> Bool {
        // At most five bytes, which is less than the padding.
        for index in 0..<literal.utf8CodeUnitCount where place[index] != literal.utf8Start[index] { return false }
        append(kind, at: place, count: literal.utf8CodeUnitCount)
        place += literal.utf8CodeUnitCount
        return true
    }

    @inline(__always)
    mutating func skipWhiteSpace() {
        while place.pointee <= 0x20 {
            let byte = place.pointee
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            place += 1
        }
    }

    /// Adds the token of a value. Its `next` is the following token until it is changed.
    @inline(__always)
    mutating func append(_ kind: Token.Kind, at start: UnsafePointer<UInt8>, count: Int) {
        append(
            Token(
                start: UInt32(truncatingIfNeeded: start - text),
                count: UInt32(truncatingIfNeeded: count),
                next: UInt32(truncatingIfNeeded: tokenCount &+ 1),
                kind: kind
            )
        )
    }

    @inline(__always)
    mutating func append(_ token: Token) {
        if tokenCount == tokenCapacity {
            tokens = Self.doubled(tokens, count: tokenCount)
            tokenCapacity = 2 &* tokenCount
        }
        // In bounds: there is room for at least one more.
        (tokens + tokenCount).initialize(to: token)
        tokenCount &+= 1
    }

    /// Moves tokens to twice as much memory.
    @inline(never)
    private static func doubled(
        _ tokens: UnsafeMutablePointer<Token>,
        count: Int
    ) -> UnsafeMutablePointer<Token> {
        let larger = UnsafeMutablePointer<Token>.allocate(capacity: 2 * count)
        larger.moveInitialize(from: tokens, count: count)
        tokens.deallocate()
        return larger
    }

    /// The distance of a place from the beginning of the text.
    @inline(__always)
    func offset(of place: UnsafePointer<UInt8>) -> UInt32 { UInt32(truncatingIfNeeded: place - text) }

    /// The text of a token.
    @inline(__always)
    func text(of token: Token) -> UnsafePointer<UInt8> { text + Int(token.start) }
}

extension Tape {

    /// Scans the text. Called once after loading it.
    ///
    /// - Returns: Whether the text is one JSON value as RFC 8259 defines it, nested no deeper than ``maximumDepth``.
    mutating func scan() -> Bool {
        var scanner = TapeScanner(UnsafePointer(bytes), tokens: tokens, tokenCapacity: tokenCapacity, names: names)
        let isValue = scanner.scan(count: count, outer: containers)
        (tokens, tokenCapacity, tokenCount) = (scanner.tokens, scanner.tokenCapacity, scanner.tokenCount)
        return isValue
    }
}
