import Bodega
import Crypto
import Foundation

/// An encoding of arbitrary names as folder names. Common names stay readable, each result is valid on every volume,
/// and different names have different results, even on volumes that ignore case.
///
/// - ASCII letters, digits, spaces, `-`, `_` and `.` are kept, except for a dot or space at either end. Each other byte
///   of the name's UTF-8 becomes `%` and two hexadecimal digits.
/// - A regular word begins with an uppercase letter and continues in lowercase. A name with deviating letters ends in
///   `~` and a bit field that marks them: one hexadecimal digit per four letters, the first letter in the lowest bit.
/// - A long name is truncated and ends in `~~` and the SHA-256 of the whole name.
enum FolderName {

    private static let maximumLength = 180

    /// Returns the folder name for a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - reserved: A suffix that no result has.
    static func name(of name: String, excluding reserved: String = "~") -> String {
        let bytes = Array(name.utf8)
        let result = escaped(bytes, excluding: reserved) + capitals(bytes)
        if result.utf8.count <= maximumLength { return result }
        let hash = SHA256.hash(data: bytes).hexadecimal
        return result.prefix(80) + "~~" + hash
    }

    private static func escaped(_ bytes: [UInt8], excluding reserved: String) -> String {
        if bytes.isEmpty { return "%" }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        // The SQLite file and its companions are in the same folder as the containers.
        let isDatabase = text.hasPrefix("codablestorekit.sqlite3")
        let endsReserved = text.hasSuffix(reserved.lowercased())
        var result = ""
        for (index, byte) in bytes.enumerated() {
            let isAtEnd = index == 0 || index == bytes.count - 1
            let mustEscape =
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    false
                case UInt8(ascii: "."):
                    isAtEnd || isDatabase || endsReserved && index == bytes.count - reserved.utf8.count
                case UInt8(ascii: " "): isAtEnd
                default: true
                }
            if mustEscape {
                result += "%" + byte.hexadecimal.uppercased()
            } else {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result
    }

    /// Returns the suffix that marks the letters of unexpected case.
    private static func capitals(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        var letters = 0
        var isInWord = false
        for byte in bytes {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isLetter = isCapital || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            if isLetter {
                if letters.isMultiple(of: 4) { digits.append(0) }
                if isCapital == isInWord { digits[letters / 4] |= 1 << UInt8(letters % 4) }
                letters += 1
            }
            isInWord = isLetter
        }
        while digits.last == 0 { digits.removeLast() }
        return digits.isEmpty ? "" : "~" + digits.map { String($0, radix: 16) }.joined()
    }
}
