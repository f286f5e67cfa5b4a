/// A picture of the API, without its bytes.
struct Picture: Codable, Hashable, Sendable, Identifiable {
    /// The identifier in the API and in the gallery's paths; see ``isValidID(_:)``.
    let id: String
    let title: String
    let style: String
    let algorithm: String
    let palette: String
    /// The palette's colours as `#rrggbb`.
    let colors: [String]
    let width: Int
    let height: Int
    let seed: String
    let isForMembers: Bool
}

extension Picture {

    /// Returns whether a text is a valid identifier: 1 to 64 lower-case letters, digits and hyphens.
    static func isValidID(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Returns whether a text is a colour in the form `#rrggbb`.
    static func isValidColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.hasPrefix("#") && text.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Whether all values are within the limits that the pages support. Pictures from the API are checked with this
    /// property.
    var isValid: Bool {
        Self.isValidID(id)
            && [title, style, algorithm, palette, seed].allSatisfy { !$0.isEmpty && $0.utf8.count <= 200 }
            && (1...12).contains(colors.count) && colors.allSatisfy(Self.isValidColor)
            && (1...10_000).contains(width) && (1...10_000).contains(height)
    }
}
