import Foundation

/// Names the bytes of one picture: 32 hexadecimal digits.
///
/// Each time that bytes are stored they get a key of their own, and each key has one owner: a favourite, or the easel. So
/// nobody can remove the bytes that another one still shows, whatever happens at the same time.
struct ImageKey: Hashable, Sendable {
    let text: String

    /// A key that no other bytes have.
    init() {
        text = UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    }

    /// Reads a key.
    ///
    /// - Parameter text: 32 lower-case hexadecimal digits; anything else is no key.
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "It is not an image's key.")
        }
        self = key
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
