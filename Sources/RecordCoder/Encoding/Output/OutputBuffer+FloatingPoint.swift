extension OutputBuffer {
    /// Appends a number, which must be finite, so that it reads back as exactly the same; a negative zero as `-0`.
    mutating func append(_ value: Double) {
        let magnitude = value.magnitude
        // 2^53: all integers below it are exact, and so is their way through UInt64.
        guard magnitude < 0x1p53 else { return append(descriptionOf: value) }
        let whole = UInt64(magnitude)
        if Double(whole) == magnitude {
            if value.sign == .minus { append(UInt8(ascii: "-")) }
            return append(whole)
        }
        if append(value, decimals: 3, scale: 1e3) || append(value, decimals: 7, scale: 1e7) { return }
        append(descriptionOf: value)
    }

    /// Appends a number, which must be finite, so that it reads back as exactly the same; a negative zero as `-0`.
    mutating func append(_ value: Float) {
        // 2^24: all integers below it are exact.
        if value.magnitude < 0x1p24, value.rounded(.towardZero) == value {
            if value.sign == .minus { append(UInt8(ascii: "-")) }
            append(UInt64(value.magnitude))
        } else {
            append(descriptionOf: value)
        }
    }

    /// Appends a number with a few decimals, if it has no more.
    ///
    /// Where `scaled / scale` gives the number itself, the quotient's decimal spelling reads back as that number: both
    /// operands are exact, as they are integers below 2^53, so the division, which is rounded correctly, gives the double
    /// next to the decimal number, and so does a reader that rounds correctly. This is the fast path of
    /// W. D. Clinger, "How to Read Floating Point Numbers Accurately" (1990), the other way round.
    ///
    /// - Parameters:
    ///   - value: A number below 2^53 that is not an integer.
    ///   - decimals: How many decimals to try.
    ///   - scale: Ten to the power of `decimals`.
    /// - Returns: Whether it was appended.
    @inline(__always)
    private mutating func append(_ value: Double, decimals: Int, scale: Double) -> Bool {
        let product = value.magnitude * scale + 0.5
        guard product < 0x1p53 else { return false }
        let scaled = UInt64(product)
        guard Double(scaled) / scale == value.magnitude else { return false }
        if value.sign == .minus { append(UInt8(ascii: "-")) }
        let divisor = UInt64(scale)
        let whole = scaled / divisor
        append(whole)
        append(UInt8(ascii: "."))
        appendDigits(scaled &- whole &* divisor, count: decimals)
        // Ends at the decimal point at the latest, and not even there, as the number is not an integer.
        while last == UInt8(ascii: "0") { advance(by: -1) }
        return true
    }

    /// Appends the shortest decimal number that reads back as the same, as the standard library finds it.
    private mutating func append(descriptionOf value: some TextOutputStreamable & BinaryFloatingPoint) {
        var stream = NumberStream(output: self)
        value.write(to: &stream)
        self = stream.output
    }
}

/// Takes the text of a number into an output buffer.
private struct NumberStream: TextOutputStream {
    var output: OutputBuffer

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { output.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// What the standard library calls for text that is ASCII. It saves a string that would need memory of its own; a
    /// standard library that does not call it calls `write(_:)` instead.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) {
        output.append(contentsOf: UnsafeRawBufferPointer(text))
    }
}
