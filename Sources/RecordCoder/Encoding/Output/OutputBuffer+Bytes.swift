import Foundation

/// The 16 digits as Foundation writes them in a UUID.
private let hexadecimalDigits: StaticString = "0123456789ABCDEF"
/// The 64 digits of RFC 4648, section 4.
private let base64Digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

extension OutputBuffer {
    /// Appends a UUID as a JSON string of 36 characters, in upper case.
    mutating func append(_ uuid: UUID) {
        reserve(38)
        // In bounds: 38 bytes are reserved: 32 digits, four hyphens and two quotation marks. The 16 bytes of the UUID
        // have indices below 16, and a digit is below 16.
        withUnsafeBytes(of: uuid.uuid) { bytes in
            var place = end
            place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            place += 1
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    place.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
                    place += 1
                }
                let byte = bytes[index]
                place.storeBytes(of: hexadecimalDigits.utf8Start[Int(byte &>> 4)], as: UInt8.self)
                (place + 1).storeBytes(of: hexadecimalDigits.utf8Start[Int(byte & 15)], as: UInt8.self)
                place += 2
            }
            place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        }
        advance(by: 38)
    }

    /// Appends bytes as a JSON string in Base64, with padding.
    mutating func append(base64 bytes: UnsafeRawBufferPointer) {
        // Traps on overflow: no such amount of memory exists.
        let length = (bytes.count + 2) / 3 * 4 + 2
        reserve(length)
        // In bounds: the length counts four digits for each group of up to three bytes, and the two quotation marks.
        // Six bits are below 64. Bytes are read with checked subscripts.
        var place = end
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        place += 1
        var index = 0
        while index < bytes.count {
            let rest = bytes.count &- index
            var group = UInt32(bytes[index]) &<< 16
            if rest > 1 { group |= UInt32(bytes[index &+ 1]) &<< 8 }
            if rest > 2 { group |= UInt32(bytes[index &+ 2]) }
            for digit in 0..<4 {
                let bits = Int((group &>> UInt32(18 &- 6 &* digit)) & 63)
                let character = digit <= rest ? base64Digits.utf8Start[bits] : UInt8(ascii: "=")
                place.storeBytes(of: character, as: UInt8.self)
                place += 1
            }
            index &+= 3
        }
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        advance(by: length)
    }
}
