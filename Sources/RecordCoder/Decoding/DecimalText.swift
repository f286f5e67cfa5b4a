/// A decimal number: `significand × 10^exponent`, with a sign.
struct DecimalText {
    private(set) var significand: UInt64 = 0
    private(set) var exponent = 0
    let isNegative: Bool
    /// Whether the significand holds all significant digits.
    private(set) var isExact = true

    /// Reads a number as RFC 8259 defines it.
    ///
    /// - Parameters:
    ///   - text: The number. Only its `count` bytes are read.
    ///   - count: The number of bytes, at least one.
    @inline(__always)
    init(_ text: UnsafePointer<UInt8>, count: Int) {
        var place = text
        let end = text + count
        isNegative = place.pointee == UInt8(ascii: "-")
        if isNegative { place += 1 }
        readDigits(&place, end)
        if place < end, place.pointee == UInt8(ascii: ".") {
            place += 1
            let fraction = place
            readDigits(&place, end)
            exponent &-= place - fraction
        }
        if place < end { readExponent(place + 1, end) }
    }

    @inline(__always)
    private mutating func readDigits(_ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
        while place < end {
            let digit = place.pointee &- UInt8(ascii: "0")
            if digit > 9 { return }
            // Leave room for one more digit.
            if significand > 999_999_999_999_999_999 { isExact = false }
            significand = significand &* 10 &+ UInt64(digit)
            place += 1
        }
    }

    @inline(never)
    private mutating func readExponent(_ place: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
        var place = place
        let isNegative = place.pointee == UInt8(ascii: "-")
        if isNegative || place.pointee == UInt8(ascii: "+") { place += 1 }
        var value = 0
        while place < end {
            // Larger exponents don't change the result.
            if value > 100_000 { isExact = false }
            value = Swift.min(value, 100_000) &* 10 &+ Int(place.pointee &- UInt8(ascii: "0"))
            place += 1
        }
        exponent &+= isNegative ? -value : value
    }

    /// The nearest `Double`, if one operation suffices. If significand and power of ten are exact as `Double`, IEEE 754
    /// rounds their product or quotient correctly (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
    @inline(__always)
    var exactDouble: Double? {
        guard isExact, significand <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        var value = Double(significand)
        if exponent < 0 {
            value /= powerOfTen(-exponent)
        } else if exponent > 0 {
            value *= powerOfTen(exponent)
        }
        return isNegative ? -value : value
    }
}

/// A decimal number of 20 to 38 significant digits without an exponent: `(high × 10^19 + low) × 10^exponent`.
struct LongDecimalText {
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0
    private(set) var exponent = 0

    /// Reads a number as RFC 8259 defines it.
    ///
    /// - Parameters:
    ///   - text: The number. Only its `count` bytes are read.
    ///   - count: The number of bytes, at least one.
    /// - Returns: `nil` if the number has another form.
    init?(_ text: UnsafePointer<UInt8>, count: Int) {
        var digits = 0
        var point: Int?
        // In bounds: the indices are below the count.
        for index in 0..<count {
            let digit = text[index] &- UInt8(ascii: "0")
            if digit <= 9 {
                if digits == 0, digit == 0 { continue }
                digits += 1
                if digits > 38 { return nil }
                // Of the last 19 digits, the first one moves to `high`.
                if digits > 19 { high = high &* 10 &+ low / 1_000_000_000_000_000_000 }
                low = low % 1_000_000_000_000_000_000 &* 10 &+ UInt64(digit)
            } else if text[index] == UInt8(ascii: ".") {
                point = index
            } else if text[index] != UInt8(ascii: "-") {
                return nil
            }
        }
        if let point { exponent = point + 1 - count }
        guard digits > 19, exponent >= -64 else { return nil }
    }
}

extension FixedWidthInteger {

    /// Parses an integer of more than 64 bits: digits with an optional minus sign.
    ///
    /// - Parameters:
    ///   - text: The number. Only its `count` bytes are read.
    ///   - count: The number of bytes, at least one.
    /// - Returns: `nil` if the number doesn't fit.
    @inline(never)
    init?(longDigits text: UnsafePointer<UInt8>, count: Int) {
        let isNegative = text.pointee == UInt8(ascii: "-")
        if isNegative, !Self.isSigned { return nil }
        var place = isNegative ? 1 : 0
        self = 0
        // In bounds: the indices are below the count.
        while place < count {
            let end = Swift.min(place + 18, count)
            var (part, scale) = (0 as Int64, 1 as Int64)
            while place < end {
                part = part &* 10 &+ Int64(text[place] &- UInt8(ascii: "0"))
                scale = scale &* 10
                place += 1
            }
            // Both have at most 18 digits, and the type has more than 64 bits.
            let (shifted, overflows) = multipliedReportingOverflow(by: Self(truncatingIfNeeded: scale))
            let next = Self(truncatingIfNeeded: part)
            let (sum, carries) =
                isNegative ? shifted.subtractingReportingOverflow(next) : shifted.addingReportingOverflow(next)
            if overflows || carries { return nil }
            self = sum
        }
    }

    /// Parses an integer: digits with an optional minus sign.
    ///
    /// - Parameters:
    ///   - text: The number. Only its `count` bytes are read.
    ///   - count: The number of bytes, at least one.
    /// - Returns: `nil` if the number doesn't fit, or has more than 20 digits.
    @inline(__always)
    init?(digits text: UnsafePointer<UInt8>, count: Int) {
        var place = text
        let end = text + count
        let isNegative = place.pointee == UInt8(ascii: "-")
        if isNegative { place += 1 }
        guard end - place <= 20 else { return nil }
        // The first 19 digits can't overflow.
        let last = end - place == 20 ? end - 1 : end
        var magnitude: UInt64 = 0
        while place < last {
            magnitude = magnitude &* 10 &+ UInt64(place.pointee &- UInt8(ascii: "0"))
            place += 1
        }
        if last < end {
            let (shifted, overflows) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carries) = shifted.addingReportingOverflow(UInt64(last.pointee &- UInt8(ascii: "0")))
            guard !overflows, !carries else { return nil }
            magnitude = sum
        }
        if isNegative {
            guard magnitude <= Int64.min.magnitude else { return nil }
            self.init(exactly: Int64(bitPattern: 0 &- magnitude))
        } else {
            self.init(exactly: magnitude)
        }
    }
}
