package import Foundation
import RecordCoder

/// Compares `RecordDecoder` with Foundation's decoder on the same bytes.
package struct Oracle: Sendable {
    private let foundation: JSONDecoder
    private let ours: RecordDecoder

    /// Creates an oracle.
    ///
    /// - Parameter userInfo: The user info of both decoders.
    package init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        foundation = JSONDecoder()
        foundation.userInfo = userInfo
        ours = RecordDecoder(userInfo: userInfo)
    }

    /// The result of Foundation's decoder.
    package func foundationsDecoding<Value: Decodable>(
        of type: Value.Type, from json: Data
    ) -> Result<Value, any Error> {
        Result { try foundation.decode(type, from: json) }
    }

    /// The result of `RecordDecoder`.
    package func ourDecoding<Value: Decodable>(of type: Value.Type, from json: Data) -> Result<Value, any Error> {
        Result { try ours.decode(type, from: json) }
    }

    /// The results of `RecordDecoder` for a batch of records.
    package func ourDecodings<Value: Decodable>(
        of type: Value.Type, fromEach records: [Data]
    ) -> [Result<Value, any Error>] {
        ours.decode(type, fromEach: records)
    }

    /// Two different results of the decoders for the same bytes.
    package struct Difference: CustomStringConvertible {
        package let type: String
        package let json: Data
        package let ours: String
        package let foundations: String

        package init(type: String, json: Data, ours: String, foundations: String) {
            self.type = type
            self.json = json
            self.ours = ours
            self.foundations = foundations
        }

        /// All that is needed to reproduce the difference, in ASCII.
        package var description: String {
            """
            JSON:       \(escaped(json))
            as:         \(type)
            ours:       \(ours)
            Foundation: \(foundations)
            """
        }
    }

    /// Decodes with both decoders, and compares values and errors exactly.
    ///
    /// - Returns: The difference; `nil` if there is none.
    package func difference<Value: Decodable>(decoding type: Value.Type, from json: Data) -> Difference? {
        let foundations = exactDescription(of: foundationsDecoding(of: type, from: json))
        return difference(between: ourDecoding(of: type, from: json), and: foundations, decoding: type, from: json)
    }

    /// Compares our result with the exact description of Foundation's.
    ///
    /// If an object has several errors, Foundation reports the first one in an internal dictionary, whose order depends
    /// on its address. So before reporting a difference, this decodes with Foundation again, with memory allocated in
    /// between.
    package func difference<Value: Decodable>(
        between ours: Result<Value, any Error>, and foundations: String, decoding type: Value.Type, from json: Data
    ) -> Difference? {
        let isError = if case .failure = ours { true } else { false }
        let ours = exactDescription(of: ours)
        var inTheWay: [[Int]] = []
        var answer = foundations
        for attempt in 1...200 where isError && ours != answer {
            inTheWay += (0..<8).map { Array(repeating: 0, count: ($0 + attempt % 5) * 8) }
            answer = exactDescription(of: foundationsDecoding(of: type, from: json))
        }
        if ours == answer { return nil }
        return Difference(type: "\(type)", json: json, ours: ours, foundations: foundations)
    }
}

/// Bytes as a Swift string literal: ASCII unescaped, other bytes by their number.
package func escaped(_ bytes: Data) -> String {
    let limit = 2_000
    let text = bytes.prefix(limit).map { byte in
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
        case 0x20..<0x7F: String(UnicodeScalar(byte))
        default: "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }
    return "\"\(text.joined())\"" + (bytes.count > limit ? " … \(bytes.count) bytes" : "")
}
