/// Operations on JSON texts as such.
package enum JSONText {

    /// Returns a text without the whitespace between its tokens.
    ///
    /// - Parameter json: A text that ``/RecordCoder/JSONScanner`` has accepted.
    package static func withoutWhitespace(_ json: some Sequence<UInt8>) -> [UInt8] {
        var (isInString, isEscaped) = (false, false)
        return json.filter { byte in
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else {
                    isInString = byte != UInt8(ascii: "\"")
                }
                return true
            }
            isInString = byte == UInt8(ascii: "\"")
            return byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") && byte != UInt8(ascii: "\n")
                && byte != UInt8(ascii: "\r")
        }
    }
}
