extension OutputBuffer {
    /// Appends a number, which must be finite, so that it reads back as exactly the same; a negative zero as `-0`.
    mutating func append(_ value: Double) {
        let magnitude = value.magnitude
        // 2^53: all integers below it are exact, and so is their way through Int64.
        guard magnitude < 0x1p53 else { return append(descriptionOf: value) }
        let whole = Int64(magnitude)
        if Double(whole) == magnitude {
            appendSign(of: value)
            append(whole)
        } else if let thousandths = thousandths(magnitude) {
            appendSign(of: value)
            append(thousandths / 1000)
            appendFraction(thousandths: UInt32(truncatingIfNeeded: thousandths % 1000))
        } else if let tenMillionths = scaled(magnitude, by: 1e7) {
            appendSign(of: value)
            append(tenMillionths / 1_000_0000)
            appendFraction(tenMillionths: UInt32(truncatingIfNeeded: tenMillionths % 1_000_0000))
        } else {
            append(descriptionOf: value)
        }
    }

    /// Appends a number, which must be finite, so that it reads back as exactly the same; a negative zero as `-0`.
    mutating func append(_ value: Float) {
        // 2^24: all integers below it are exact.
        if value.magnitude < 0x1p24, value.rounded(.towardZero) == value {
            appendSign(of: value)
            append(UInt64(value.magnitude))
        } else {
            append(descriptionOf: value)
        }
    }

    /// The number in thousandths, if that is the way to find its shortest spelling.
    ///
    /// Below 2^51 / 10^7 the decimals that ``scaled(_:by:)`` finds by 10^7 are the shortest ones, too, so there is nothing
    /// to be gained. Above, seven decimals are more than the number's precision, and may not end in zeros any more.
    @inline(__always)
    private func thousandths(_ magnitude: Double) -> Int64? {
        magnitude < 0x1p51 / 1e7 ? nil : scaled(magnitude, by: 1e3)
    }

    /// Appends a minus sign if the number has one.
    @inline(__always)
    private mutating func appendSign(of value: some BinaryFloatingPoint) {
        if value.sign == .minus { append(UInt8(ascii: "-")) }
    }

    /// Shifts the decimal point of a number that has few decimals, so that it becomes an integer.
    ///
    /// Where the integer divided by the scale gives the number itself, the quotient's decimal spelling reads back as that
    /// number: both operands are exact, as they are integers up to 2^53, so the division, which is rounded correctly,
    /// gives the double next to the decimal number, and so does a reader that rounds correctly. This is the fast path of
    /// W. D. Clinger, "How to Read Floating Point Numbers Accurately" (1990), the other way round.
    ///
    /// - Parameters:
    ///   - magnitude: A positive number that is not an integer.
    ///   - scale: A power of ten, up to 10^15.
    /// - Returns: The integer, or `nil` if the number has more decimals.
    @inline(__always)
    private func scaled(_ magnitude: Double, by scale: Double) -> Int64? {
        let product = magnitude * scale + 0.5
        guard product < 0x1p53 else { return nil }
        let integer = Int64(product)
        return Double(integer) / scale == magnitude ? integer : nil
    }

    /// Appends the shortest decimal number that reads back as the same, as the standard library finds it.
    private mutating func append(descriptionOf value: some TextOutputStreamable & BinaryFloatingPoint) {
        withUnsafeMutablePointer(to: &self) { output in
            var stream = NumberStream(output: output)
            value.write(to: &stream)
        }
    }
}

/// Takes the text of a number into an output buffer.
private struct NumberStream: TextOutputStream {
    /// The buffer, which outlives the stream.
    let output: UnsafeMutablePointer<OutputBuffer>

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { output.pointee.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// What the standard library calls for text that is ASCII. It saves a string that would need memory of its own; a
    /// standard library that does not call it calls `write(_:)` instead.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) {
        output.pointee.append(contentsOf: UnsafeRawBufferPointer(text))
    }
}
