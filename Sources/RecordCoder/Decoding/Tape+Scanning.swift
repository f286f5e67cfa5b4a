/// What stops a scan: something that isn't JSON, or that only Foundation is to judge.
struct UnexpectedText: Error {}

extension Tape {

    /// Finds the tokens of the text, once after it was loaded.
    ///
    /// It accepts what RFC 8259 defines, nested to ``maximumDepth``, and nothing else. What it rejects may be something
    /// that Foundation accepts all the same.
    ///
    /// - Returns: Whether the text is one value.
    mutating func scan() -> Bool {
        append(Token(start: 0, count: 0, next: 1, kind: .null))
        // Every read is at or before the first zero behind the text or, where eight or four bytes are read, begins there.
        var place = UnsafePointer(bytes)
        // A byte-order mark.
        if count >= 3, place[0] == 0xEF, place[1] == 0xBB, place[2] == 0xBF { place += 3 }
        place.skipWhiteSpace()
        guard scanValue(&place, depth: 0) else { return false }
        place.skipWhiteSpace()
        return place == UnsafePointer(bytes) + count
    }

    private mutating func scanValue(_ place: inout UnsafePointer<UInt8>, depth: Int) -> Bool {
        switch place.pointee {
        case UInt8(ascii: "\""):
            return appendString(&place, .string, next: tokenCount + 1)
        case UInt8(ascii: "{"):
            place += 1
            return depth < Self.maximumDepth && scanObject(&place, depth: depth + 1)
        case UInt8(ascii: "["):
            place += 1
            return depth < Self.maximumDepth && scanArray(&place, depth: depth + 1)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return appendNumber(&place)
        case UInt8(ascii: "t"):
            return appendLiteral("true", .true, &place)
        case UInt8(ascii: "f"):
            return appendLiteral("false", .false, &place)
        case UInt8(ascii: "n"):
            return appendLiteral("null", .null, &place)
        default:
            return false
        }
    }

    private mutating func scanArray(_ place: inout UnsafePointer<UInt8>, depth: Int) -> Bool {
        let array = tokenCount
        append(Token(start: 0, count: 0, next: 0, kind: .array))
        var elements: UInt32 = 0
        place.skipWhiteSpace()
        if place.pointee != UInt8(ascii: "]") {
            while true {
                guard scanValue(&place, depth: depth) else { return false }
                elements &+= 1
                place.skipWhiteSpace()
                if place.pointee != UInt8(ascii: ",") { break }
                place += 1
                place.skipWhiteSpace()
            }
            guard place.pointee == UInt8(ascii: "]") else { return false }
        }
        place += 1
        tokens[array].count = elements
        tokens[array].next = UInt32(truncatingIfNeeded: tokenCount)
        return true
    }

    private mutating func scanObject(_ place: inout UnsafePointer<UInt8>, depth: Int) -> Bool {
        let object = tokenCount
        append(Token(start: UInt32(truncatingIfNeeded: object + 1), count: 0, next: 0, kind: .object))
        var names = MemberNames(first: object + 1)
        place.skipWhiteSpace()
        if place.pointee != UInt8(ascii: "}") {
            while true {
                let name = tokenCount
                guard place.pointee == UInt8(ascii: "\""), appendString(&place, .name, next: object) else {
                    return false
                }
                names.add(name, in: self)
                place.skipWhiteSpace()
                guard place.pointee == UInt8(ascii: ":") else { return false }
                place += 1
                place.skipWhiteSpace()
                guard scanValue(&place, depth: depth) else { return false }
                place.skipWhiteSpace()
                if place.pointee != UInt8(ascii: ",") { break }
                place += 1
                place.skipWhiteSpace()
            }
            guard place.pointee == UInt8(ascii: "}") else { return false }
        }
        place += 1
        tokens[object].count = names.count
        tokens[object].isIrregular = names.areIrregular
        tokens[object].next = UInt32(truncatingIfNeeded: tokenCount)
        return true
    }

    private mutating func appendLiteral(
        _ literal: StaticString,
        _ kind: Token.Kind,
        _ place: inout UnsafePointer<UInt8>
    ) -> Bool {
        // At most five bytes, which is less than the padding.
        for index in 0..<literal.utf8CodeUnitCount where place[index] != literal.utf8Start[index] { return false }
        append(
            Token(
                start: UInt32(truncatingIfNeeded: place - UnsafePointer(bytes)),
                count: UInt32(truncatingIfNeeded: literal.utf8CodeUnitCount),
                next: UInt32(truncatingIfNeeded: tokenCount + 1),
                kind: kind
            )
        )
        place += literal.utf8CodeUnitCount
        return true
    }
}

extension UnsafePointer<UInt8> {
    @inline(__always)
    mutating func skipWhiteSpace() {
        // Behind the text stands a zero, which isn't white space.
        while pointee <= 0x20, pointee == 0x20 || pointee == 0x0A || pointee == 0x0D || pointee == 0x09 { self += 1 }
    }
}
