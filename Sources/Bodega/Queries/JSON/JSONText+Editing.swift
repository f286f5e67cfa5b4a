import Foundation
import RecordCoder

extension JSONText {

    /// Returns an object with another value in a member.
    ///
    /// - Parameters:
    ///   - json: A JSON object.
    ///   - names: The names that lead to the member, outermost first.
    ///   - value: The JSON value; `nil` to remove the member.
    /// - Returns: `nil` if there is no object at the end of the path.
    static func setting(_ names: [String], to value: String?, in json: Data) -> Data? {
        json.withUnsafeBytes { bytes in
            JSONScanner.document(bytes).flatMap { setting(names[...], to: value, in: bytes, $0) }.map { Data($0) }
        }
    }

    private static func setting(
        _ names: ArraySlice<String>, to value: String?, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> [UInt8]? {
        guard let wanted = names.first, let first = range.first, bytes[first] == UInt8(ascii: "{") else { return nil }
        var members: [[UInt8]] = []
        var isFound = false
        var isPossible = true
        JSONScanner.forEachMember(of: bytes, range) { name, element in
            let content = UnsafeRawBufferPointer(rebasing: bytes[name])
            var new: [UInt8]? = Array(bytes[element])
            if JSONScanner.isName(content, wanted) {
                isFound = true
                if names.count > 1 {
                    new = setting(names.dropFirst(), to: value, in: bytes, element)
                    if new == nil { isPossible = false }
                } else {
                    new = value.map { Array($0.utf8) }
                }
            }
            if let new { members.append(Array("\"".utf8) + content + Array("\":".utf8) + new) }
        }
        if !isFound {
            // A name with other characters than these could have a quotation mark.
            guard names.count == 1, let value,
                !wanted.unicodeScalars.contains(where: { "\"\\.".unicodeScalars.contains($0) || $0.value < 0x20 })
            else { return names.count == 1 && value == nil ? Array(bytes[range]) : nil }
            members.append(Array("\"\(wanted)\":\(value)".utf8))
        }
        guard isPossible else { return nil }
        return Array("{".utf8) + Array(members.joined(separator: Array(",".utf8))) + Array("}".utf8)
    }
}
