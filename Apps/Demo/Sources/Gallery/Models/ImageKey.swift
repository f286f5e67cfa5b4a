import Foundation

/// The key of a picture's bytes: 32 hexadecimal digits.
///
/// Bytes get a new key each time they are stored, and each key has one owner: a favourite, or the easel. So an owner
/// can never remove the bytes of another one.
struct ImageKey: Hashable, Sendable {
    let text: String

    /// Creates a unique key.
    init() {
        text = UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    }

    /// Parses a key.
    ///
    /// - Parameter text: 32 lower-case hexadecimal digits. For any other text the result is `nil`.
    init?(_ text: String) {
        let digits = "0123456789abcdef"
        guard text.utf8.count == 32, text.allSatisfy(digits.contains) else { return nil }
        self.text = text
    }
}

extension ImageKey: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = ImageKey(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is not an image key.")
        }
        self = key
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
