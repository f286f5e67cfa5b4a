extension OutputBuffer {
    /// Appends a JSON string: the text in quotation marks.
    ///
    /// Only quotation marks, backslashes and control characters are escaped, as JSON requires. Slashes and non-ASCII
    /// characters are not.
    @inline(__always)
    mutating func append(_ text: String) {
        let written: Void? = text.utf8.withContiguousStorageIfAvailable { append(quoting: $0) }
        if written == nil { append(copyOf: text) }
    }

    /// Appends a string without contiguous UTF-8, such as one bridged from another runtime.
    @inline(never)
    private mutating func append(copyOf text: String) {
        var copy = text
        copy.withUTF8 { append(quoting: $0) }
    }

    /// Appends UTF-8 in quotation marks.
    mutating func append(quoting utf8: UnsafeBufferPointer<UInt8>) {
        // Two bytes for the quotation marks. Bytes that escaping adds are reserved where they are added.
        reserve(utf8.count + 2)
        // In bounds: utf8.count + 2 bytes are reserved.
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        advance(by: 1)
        if let text = UnsafeRawPointer(utf8.baseAddress), !utf8.isEmpty {
            append(escaping: text, count: utf8.count)
        }
        // In bounds: `append(escaping:count:)` leaves one byte reserved.
        end.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        advance(by: 1)
    }

    /// Appends UTF-8, escaped where necessary, and leaves one more byte reserved.
    ///
    /// - Parameter text: `count` readable bytes, at least one. `count + 1` bytes are reserved.
    @inline(__always)
    private mutating func append(escaping text: UnsafeRawPointer, count length: Int) {
        var index = 0
        while true {
            // Here index < length, and at least length - index + 1 bytes are reserved.
            let rest = length &- index
            // In bounds: the bytes read, eight or all of the rest, are within the text.
            let word = rest >= 8 ? ByteWord(at: text + index) : ByteWord(upToSevenAt: text + index, count: rest)
            // In bounds: at least one byte is reserved, and the slack holds the other seven.
            end.storeBytes(of: word.bits.littleEndian, as: UInt64.self)
            let mask = word.needingEscape
            if mask == 0 {
                let step = min(rest, 8)
                index &+= step
                advance(by: step)
            } else {
                // Less than `rest`, because the padding of a short word needs no escape.
                let step = mask.firstMarkedByte
                index &+= step
                advance(by: step)
                // In bounds: index < length.
                appendEscape(of: text.load(fromByteOffset: index, as: UInt8.self))
                index &+= 1
                reserve(length &- index &+ 1)
            }
            if index == length { return }
        }
    }

    /// Appends the escape sequence of a byte: two bytes if JSON has a short form, otherwise six.
    private mutating func appendEscape(of byte: UInt8) {
        reserve(6)
        let letter: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): letter = byte
        case 0x08: letter = UInt8(ascii: "b")
        case 0x09: letter = UInt8(ascii: "t")
        case 0x0A: letter = UInt8(ascii: "n")
        case 0x0C: letter = UInt8(ascii: "f")
        case 0x0D: letter = UInt8(ascii: "r")
        default:
            // `\u00`, then two hexadecimal digits. In bounds: six bytes are reserved.
            end.storeBytes(of: UInt32(0x3030_755C).littleEndian, as: UInt32.self)
            (end + 4).storeBytes(of: UInt8(ascii: "0") &+ (byte &>> 4), as: UInt8.self)
            let low = byte & 15
            let digit = low < 10 ? UInt8(ascii: "0") &+ low : UInt8(ascii: "a") &+ (low &- 10)
            (end + 5).storeBytes(of: digit, as: UInt8.self)
            advance(by: 6)
            return
        }
        // In bounds: six bytes are reserved.
        end.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
        (end + 1).storeBytes(of: letter, as: UInt8.self)
        advance(by: 2)
    }
}

extension ByteWord {
    /// Reads exactly one to seven bytes, and pads them with spaces.
    @inline(__always)
    fileprivate init(upToSevenAt address: UnsafeRawPointer, count: Int) {
        // In bounds: two overlapping reads cover the bytes, each at most `count` bytes long.
        let shift = UInt64(truncatingIfNeeded: count &<< 3)
        let bytes: UInt64
        if count >= 4 {
            let low = UInt64(UInt32(littleEndian: address.loadUnaligned(as: UInt32.self)))
            let high = UInt64(UInt32(littleEndian: (address + (count &- 4)).loadUnaligned(as: UInt32.self)))
            bytes = low | high &<< (shift &- 32)
        } else if count >= 2 {
            let low = UInt64(UInt16(littleEndian: address.loadUnaligned(as: UInt16.self)))
            let high = UInt64(UInt16(littleEndian: (address + (count &- 2)).loadUnaligned(as: UInt16.self)))
            bytes = low | high &<< (shift &- 16)
        } else {
            bytes = UInt64(address.load(as: UInt8.self))
        }
        bits = bytes | 0x2020_2020_2020_2020 &<< shift
    }
}
