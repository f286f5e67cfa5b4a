import Foundation

/// The head of a response of HTTP/1.1 or later, collected line by line as libcurl passes it on.
///
/// Informational responses, those of earlier attempts, and the fields after the body are left out.
struct ResponseHead: Sendable {
    private(set) var isComplete = false
    private var status = 0
    private var fields: [(name: String, value: String)] = []

    /// Takes a line with its end. Returns `true` if it completes the head.
    mutating func receive(_ line: some Collection<UInt8>) -> Bool {
        if isComplete { return false }
        var bytes = Array(line)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        if bytes.isEmpty {
            isComplete = status >= 200
            return isComplete
        }
        if bytes.starts(with: Array("HTTP/".utf8)) {
            let parts = bytes.split(separator: 0x20, maxSplits: 2)
            status = parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) ?? 0 : 0
            fields = []
            return false
        }
        let isContinuation = bytes[0] == 0x20 || bytes[0] == 0x09
        if isContinuation, let last = fields.indices.last {
            // The obsolete form of a long value: RFC 9112, section 5.2.
            fields[last].value += " " + Self.text(of: bytes[...])
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            fields.append((Self.text(of: bytes[..<colon]), Self.text(of: bytes[(colon + 1)...])))
        }
        return false
    }

    /// The head as a response without a body. The values of fields of one name are combined: RFC 9110, section 5.3.
    var response: HTTPStorageResponse { HTTPStorageResponse(status: status, fields: fields) }

    /// The length of the body, if the server has announced it.
    var length: Int64? { response.header("Content-Length").flatMap { Int64($0) } }

    /// A text without spaces around it. A byte that is not UTF-8 is a character of ISO 8859-1, as in former standards.
    private static func text(of bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
