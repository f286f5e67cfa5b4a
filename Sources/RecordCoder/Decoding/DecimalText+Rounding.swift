extension DecimalText {

    /// The nearest `Double`, if the significand and 128 bits of the power of five determine it.
    ///
    /// The Eisel-Lemire algorithm (Lemire, "Number Parsing at a Gigabyte per Second", 2021), for exponents from -27 to
    /// 27. In this range the powers are exact or, for negative exponents, precise enough that it always succeeds.
    @inline(never)
    var roundedDouble: Double? {
        guard isExact, significand != 0, exponent >= -27, exponent <= 27 else { return nil }
        let shift = significand.leadingZeroBitCount
        let normalized = significand << UInt64(shift)
        // In bounds: the table has the indices 0 to 54.
        let power = powersOfFive[exponent + 27]
        var (high, low) = normalized.multipliedFullWidth(by: power.high)
        if high & 0x1FF == 0x1FF {
            let (sum, carries) = low.addingReportingOverflow(normalized.multipliedFullWidth(by: power.low).high)
            low = sum
            if carries { high &+= 1 }
        }
        let upper = Int(high >> 63)
        var mantissa = high >> UInt64(upper + 9)
        // The position of the highest bit of 10^exponent is that of 5^exponent, shifted by the exponent.
        var binaryExponent = ((217_706 * exponent) >> 16) + 63 + upper - shift + 1_023
        // Exactly halfway between two numbers: round to even.
        if low <= 1, exponent >= -4, exponent <= 23, mantissa & 3 == 1, mantissa << UInt64(upper + 9) == high {
            mantissa &= ~1
        }
        mantissa = (mantissa + (mantissa & 1)) >> 1
        if mantissa >= 1 << 53 {
            mantissa = 1 << 52
            binaryExponent += 1
        }
        // With these exponents, the result is neither subnormal nor infinite.
        let bits = mantissa & ~(1 << 52) | UInt64(binaryExponent) << 52 | (isNegative ? 1 << 63 : 0)
        return Double(bitPattern: bits)
    }
}

/// The highest 128 bits of a power of five, normalized so that the highest bit is 1.
private struct PowerOfFive {
    var high: UInt64
    var low: UInt64

    /// Computes 5 to a power from 0 to 27, which fits in 64 bits.
    init(exponent: Int) {
        let power = Self.power(exponent)
        high = power << UInt64(power.leadingZeroBitCount)
        low = 0
    }

    /// Computes the reciprocal of 5 to a power from 1 to 27, rounded up.
    init(reciprocalOf exponent: Int) {
        let power = Self.power(exponent)
        // 2^(127 + width) / power, digit by digit in base 2^64.
        let width = 64 - power.leadingZeroBitCount
        let first = power.dividingFullWidth((1 << UInt64(width - 1), 0))
        let second = power.dividingFullWidth((first.remainder, 0))
        high = first.quotient
        low = second.quotient
        let (sum, carries) = low.addingReportingOverflow(1)
        low = sum
        if carries { high += 1 }
    }

    private static func power(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power * 5 }
    }
}

/// Five to the powers from -27 to 27.
private let powersOfFive: [PowerOfFive] =
    (1...27).reversed().map(PowerOfFive.init(reciprocalOf:)) + (0...27).map(PowerOfFive.init(exponent:))
