import Crypto
import Foundation

/// Names of folders for any names: readable for ordinary ones, safe for all, and different for different ones, also on
/// volumes that ignore case.
///
/// - Letters, digits, spaces, `-`, `_` and `.` stay, except for a dot or space at an end. Other bytes of the name's UTF-8
///   become `%` and two hexadecimal digits.
/// - Words are expected to begin with a capital letter and to go on with small ones. A name in which letters differ from
///   that ends in `~` and the places in which they do, four letters a hexadecimal digit, the first letter lowest.
/// - Long names are cut and end in `~~` and their SHA-256.
enum FolderName {

    private static let longest = 180

    /// The folder for a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - reserved: An ending that no result has.
    static func name(of name: String, excluding reserved: String = "~") -> String {
        let bytes = Array(name.utf8)
        let result = escaped(bytes, excluding: reserved) + capitals(bytes)
        if result.utf8.count <= longest { return result }
        let hash = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
        return result.prefix(80) + "~~" + hash
    }

    private static func escaped(_ bytes: [UInt8], excluding reserved: String) -> String {
        if bytes.isEmpty { return "%" }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        // The names of the SQLite file and of those that belong to it, which lie beside the folders of containers.
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
                result += String(format: "%%%02X", byte)
            } else {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result
    }

    /// Where the letters' case is not the expected one.
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
