/// The numbers from 00 to 99, two digits each.
private let digitPairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """

extension OutputBuffer {
    /// Appends an integer in decimal.
    @inline(__always)
    mutating func append(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        append(value.magnitude)
    }

    /// Appends an integer in decimal.
    @inline(__always)
    mutating func append(_ value: UInt64) {
        if value < 10 {
            append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
        } else {
            appendDigits(value, count: Self.digitCount(of: value))
        }
    }

    /// How many digits a number has.
    @inline(__always)
    static func digitCount(of value: UInt64) -> Int {
        var (rest, count) = (value, 1)
        while rest >= 10_000 {
            rest /= 10_000
            count &+= 4
        }
        if rest >= 1000 { return count &+ 3 }
        if rest >= 100 { return count &+ 2 }
        return rest >= 10 ? count &+ 1 : count
    }

    /// Appends the last digits of a number, with zeros in front where it has fewer.
    mutating func appendDigits(_ value: UInt64, count length: Int) {
        reserve(length)
        let end = end
        var (rest, index) = (value, length)
        while index >= 2 {
            let pair = Int(truncatingIfNeeded: rest % 100)
            rest /= 100
            index &-= 2
            // In bounds: pair < 100 and the table has 200 bytes; index + 2 <= length, and length bytes are reserved.
            let digits = UnsafeRawPointer(digitPairs.utf8Start + pair &* 2).loadUnaligned(as: UInt16.self)
            (end + index).storeBytes(of: digits, as: UInt16.self)
        }
        if index == 1 {
            // In bounds: length >= 1, and length bytes are reserved.
            end.storeBytes(of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10), as: UInt8.self)
        }
        advance(by: length)
    }
}

extension OutputBuffer {
    /// Appends an integer that may need more than 64 bits, in decimal.
    mutating func append(number value: some FixedWidthInteger) {
        var text = value.description
        text.withUTF8 { append(contentsOf: UnsafeRawBufferPointer($0)) }
    }
}
