/// A picture and its description.
struct Artwork: Sendable {
    /// The identifier of a picture. It determines the picture by its style and seed.
    struct ID: Hashable, Sendable, CustomStringConvertible {
        let style: String
        let seed: UInt64

        var description: String { "\(style)-\(seedText)" }

        /// The seed as 16 hexadecimal digits.
        var seedText: String {
            let digits = String(seed, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    let id: ID
    let title: String
    let style: any Style
    let palette: Palette
    let canvas: Canvas

    /// Draws a picture.
    ///
    /// - Parameter id: The identifier. The same identifier gives the same picture.
    /// - Returns: `nil` if there is no such style.
    init?(_ id: ID) {
        guard let style = styles.first(where: { $0.name == id.style }) else { return nil }
        var generator = SeededGenerator(seed: id.seed)
        self.id = id
        self.style = style
        palette = generator.pick(Palette.all)
        title = makeTitle(generator.pick(style.subjects), &generator)
        canvas = style.draw(palette, &generator)
    }
}

extension Artwork.ID {
    /// Parses an identifier.
    ///
    /// - Parameter text: A text in the form of ``description``. For any other text the result is `nil`.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 16, let seed = UInt64(parts[1], radix: 16) else { return nil }
        self.init(style: String(parts[0]), seed: seed)
        // `radix:` also accepts capital letters and a sign.
        if description != text { return nil }
    }
}

private func makeTitle(_ subject: String, _ generator: inout SeededGenerator) -> String {
    let quality = generator.pick([
        "Quiet", "Early", "Slow", "Bright", "Distant", "Gentle", "Patient", "Warm", "Hidden", "Northern", "Paper",
        "Second", "Clear", "Restless", "Old", "Weightless", "Borrowed", "Silent",
    ])
    let moment = generator.pick([
        "at Dawn", "at Noon", "after Rain", "in March", "in October", "by the Sea", "at Dusk", "for Two", "on Sunday",
        "before Snow", "No. 3", "No. 7", "No. 12", "in Transit",
    ])
    return "\(quality) \(subject) \(moment)"
}
