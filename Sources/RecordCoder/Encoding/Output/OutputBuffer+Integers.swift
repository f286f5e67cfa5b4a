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
    mutating func append(_ value: UInt64) {
        reserve(24)
        // In bounds: 24 bytes are reserved for at most 20 digits: up to four, then twice eight.
        if value < 1_0000_0000 {
            appendLeading(UInt32(truncatingIfNeeded: value))
        } else if value < 1_0000_0000_0000_0000 {
            appendLeading(UInt32(truncatingIfNeeded: value / 1_0000_0000))
            appendEight(UInt32(truncatingIfNeeded: value % 1_0000_0000))
        } else {
            let (high, low) = (value / 1_0000_0000, UInt32(truncatingIfNeeded: value % 1_0000_0000))
            appendLeading(UInt32(truncatingIfNeeded: high / 1_0000_0000))
            appendEight(UInt32(truncatingIfNeeded: high % 1_0000_0000))
            appendEight(low)
        }
    }

    /// Appends an integer that may need more than 64 bits, in decimal.
    mutating func append(number value: some FixedWidthInteger) {
        var text = value.description
        text.withUTF8 { append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a number below 10^8 without leading zeros; eight bytes are reserved for it.
    @inline(__always)
    private mutating func appendLeading(_ value: UInt32) {
        if value < 1_0000 {
            appendUpToFour(value)
        } else {
            appendUpToFour(value / 1_0000)
            appendFour(value % 1_0000)
        }
    }

    /// Appends a number below 10^4 without leading zeros; four bytes are reserved for it.
    @inline(__always)
    private mutating func appendUpToFour(_ value: UInt32) {
        // In bounds: four bytes are reserved.
        if value >= 100 {
            appendUpToTwo(value / 100)
            storePair(value % 100, at: end)
            advance(by: 2)
        } else {
            appendUpToTwo(value)
        }
    }

    /// Appends a number below 100 without leading zeros; two bytes are reserved for it.
    @inline(__always)
    private mutating func appendUpToTwo(_ value: UInt32) {
        // In bounds: two bytes are reserved.
        if value >= 10 {
            storePair(value, at: end)
            advance(by: 2)
        } else {
            end.storeBytes(of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value), as: UInt8.self)
            advance(by: 1)
        }
    }

    /// Appends a number below 10^8 as eight digits with leading zeros; they are reserved.
    @inline(__always)
    private mutating func appendEight(_ value: UInt32) {
        appendFour(value / 1_0000)
        appendFour(value % 1_0000)
    }

    /// Appends a number below 10^4 as four digits with leading zeros; they are reserved.
    @inline(__always)
    private mutating func appendFour(_ value: UInt32) {
        // In bounds: four bytes are reserved.
        storePair(value / 100, at: end)
        storePair(value % 100, at: end + 2)
        advance(by: 4)
    }

    /// Stores the two digits of a number below 100; both bytes are reserved.
    @inline(__always)
    private func storePair(_ value: UInt32, at place: UnsafeMutableRawPointer) {
        // In bounds: value < 100, and the table has 200 bytes.
        let pair = digitPairs.utf8Start + Int(truncatingIfNeeded: value) &* 2
        place.storeBytes(of: UnsafeRawPointer(pair).loadUnaligned(as: UInt16.self), as: UInt16.self)
    }

    /// Appends a decimal point and three decimals without trailing zeros. At least one decimal isn't zero.
    ///
    /// - Parameter thousandths: A number from 1 to 999.
    @inline(__always)
    mutating func appendFraction(thousandths: UInt32) {
        reserve(4)
        let point = end
        appendFour(thousandths)
        endFraction(at: point)
    }

    /// Appends a decimal point and seven decimals without trailing zeros. At least one decimal isn't zero.
    ///
    /// - Parameter tenMillionths: A number from 1 to 9,999,999.
    @inline(__always)
    mutating func appendFraction(tenMillionths: UInt32) {
        reserve(8)
        let point = end
        appendEight(tenMillionths)
        endFraction(at: point)
    }

    /// Replaces the zero before the decimals with a decimal point, and drops trailing zeros.
    @inline(__always)
    private mutating func endFraction(at point: UnsafeMutableRawPointer) {
        // In bounds: the zero was just written there.
        point.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        // The loop ends after the point, because one of the decimals isn't zero.
        while last == UInt8(ascii: "0") { advance(by: -1) }
    }
}
