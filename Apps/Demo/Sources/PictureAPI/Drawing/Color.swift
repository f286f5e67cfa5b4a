/// A colour in sRGB.
struct Color: Hashable, Sendable {
    /// Red, green and blue, from 0 to 1.
    let red, green, blue: Double

    /// Creates a colour.
    ///
    /// - Parameter hex: The three bytes of the colour, such as `0xF3EEE3`.
    init(_ hex: Int) {
        self.init(
            red: Double(hex >> 16 & 0xFF) / 255,
            green: Double(hex >> 8 & 0xFF) / 255,
            blue: Double(hex & 0xFF) / 255
        )
    }

    private init(red: Double, green: Double, blue: Double) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// The perceived brightness from 0 to 1: the luma of ITU-R BT.709.
    var lightness: Double { 0.2126 * red + 0.7152 * green + 0.0722 * blue }

    /// A mixture of this colour and another.
    ///
    /// - Parameters:
    ///   - other: The other colour.
    ///   - share: The share of the other colour, from 0 to 1.
    func mixed(with other: Color, _ share: Double) -> Color {
        func mix(_ component: KeyPath<Color, Double>) -> Double {
            self[keyPath: component] * (1 - share) + other[keyPath: component] * share
        }
        return Color(red: mix(\.red), green: mix(\.green), blue: mix(\.blue))
    }

    static let white = Color(0xFFFFFF)
    static let black = Color(0x000000)
}

extension Color: CustomStringConvertible {
    /// The colour in the notation of CSS and SVG, such as `#f3eee3`.
    var description: String {
        let bytes = [red, green, blue].map { Int(($0 * 255).rounded()) }
        return "#" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
