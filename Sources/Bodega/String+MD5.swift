import Crypto

extension String {

    /// The MD5 of the string's UTF-8 in upper-case hexadecimal digits, grouped 8-4-4-4-12 like a UUID.
    var groupedMD5: String {
        var text = self
        let digest = text.withUTF8 { bytes -> Insecure.MD5.Digest in
            var hash = Insecure.MD5()
            hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
            return hash.finalize()
        }
        return digest.withUnsafeBytes { digest in
            String(unsafeUninitializedCapacity: 36) { characters in
                var position = 0
                for (index, byte) in digest.enumerated() {
                    // A dash before the bytes 4, 6, 8 and 10.
                    if index >= 4, index <= 10, index.isMultiple(of: 2) {
                        characters[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    characters[position] = hexadecimalDigit(byte >> 4)
                    characters[position + 1] = hexadecimalDigit(byte & 0xF)
                    position += 2
                }
                return position
            }
        }
    }

    /// Whether the string has the form of ``groupedMD5``, in digits of either case.
    var looksLikeGroupedMD5: Bool {
        guard utf8.count == 36 else { return false }
        return utf8.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default:
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"),
                    UInt8(ascii: "a")...UInt8(ascii: "f"):
                    true
                default: false
                }
            }
        }
    }
}

extension Sequence<UInt8> {

    /// The bytes in lower-case hexadecimal digits.
    package var hexadecimal: String {
        var characters: [UInt8] = []
        characters.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            characters.append(hexadecimalDigit(byte >> 4) | 0x20)
            characters.append(hexadecimalDigit(byte & 0xF) | 0x20)
        }
        return String(decoding: characters, as: UTF8.self)
    }
}

extension UInt8 {
    /// The byte in two lower-case hexadecimal digits.
    package var hexadecimal: String { CollectionOfOne(self).hexadecimal }
}

/// An upper-case digit. Setting bit 5 makes it lower-case; the digits 0 to 9 have that bit already.
private func hexadecimalDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
}
