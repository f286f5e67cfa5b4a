extension OutputBuffer {
    /// Appends a finite number so that parsing yields exactly the same value. A negative zero is `-0`.
    mutating func append(_ value: Double) {
        let magnitude = value.magnitude
        // 2^53: all integers below it are exact, and so is their conversion to Int64.
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

    /// Appends a finite number so that parsing yields exactly the same value. A negative zero is `-0`.
    mutating func append(_ value: Float) {
        // 2^24: all integers below it are exact.
        if value.magnitude < 0x1p24, value.rounded(.towardZero) == value {
            appendSign(of: value)
            append(UInt64(value.magnitude))
        } else {
            append(descriptionOf: value)
        }
    }

    /// The number in thousandths, if that yields its shortest spelling.
    ///
    /// Below 2^51 / 10^7, ``scaled(_:by:)`` with 10^7 also finds the shortest decimals, so this shortcut saves nothing.
    /// Above, seven decimals exceed the number's precision and need not end in zeros.
    @inline(__always)
    private func thousandths(_ magnitude: Double) -> Int64? {
        magnitude < 0x1p51 / 1e7 ? nil : scaled(magnitude, by: 1e3)
    }

    /// Appends a minus sign if the number has one.
    @inline(__always)
    private mutating func appendSign(of value: some BinaryFloatingPoint) {
        if value.sign == .minus { append(UInt8(ascii: "-")) }
    }

    /// Scales a number with few decimals to an integer.
    ///
    /// If the integer divided by the scale equals the number, the quotient's decimal spelling parses as that number.
    /// Both operands are integers up to 2^53 and therefore exact, so the correctly rounded division yields the double
    /// nearest to the decimal number, as does a parser that rounds correctly. This is the inverse of the fast path in
    /// W. D. Clinger, "How to Read Floating Point Numbers Accurately" (1990).
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

    /// Appends the standard library's description: the shortest decimal number that parses as the same value.
    private mutating func append(descriptionOf value: some TextOutputStreamable & BinaryFloatingPoint) {
        withUnsafeMutablePointer(to: &self) { output in
            var stream = NumberStream(output: output)
            value.write(to: &stream)
        }
    }
}

/// A text stream that appends the text of a number to an output buffer.
private struct NumberStream: TextOutputStream {
    /// The buffer, which outlives the stream.
    let output: UnsafeMutablePointer<OutputBuffer>

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { output.pointee.append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// The standard library calls this for ASCII text, which avoids allocating a string. A standard library without
    /// this call uses `write(_:)`.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) {
        output.pointee.append(contentsOf: UnsafeRawBufferPointer(text))
    }
}
