/// Matching colours: the paper and the inks.
struct Palette: Sendable {
    /// The palette's name.
    let name: String
    /// The background colour.
    let paper: Color
    /// The drawing colours, the main colour first.
    let inks: [Color]

    private init(_ name: String, paper: Int, _ inks: Int...) {
        self.name = name
        self.paper = Color(paper)
        self.inks = inks.map(Color.init)
    }

    /// Whether the paper is dark.
    var isDark: Bool { paper.lightness < 0.4 }

    /// The paper and the inks.
    var colors: [Color] { [paper] + inks }

    /// The inks from light to dark.
    var lightestFirst: [Color] { inks.sorted { $0.lightness > $1.lightness } }

    /// All palettes.
    static let all = [
        Palette("Harbour", paper: 0xF3EEE3, 0x16324F, 0x2A6F97, 0x61A5C2, 0xE07A5F, 0xF2CC8F),
        Palette("Terracotta", paper: 0xFBF3EA, 0x5B2A1F, 0xA44A3F, 0xD4785C, 0xE8A87C, 0x84A98C),
        Palette("Meadow", paper: 0xF5F4E8, 0x1F4037, 0x3A7D5C, 0x8AB17D, 0xE9C46A, 0xF4A261),
        Palette("Night Market", paper: 0x14132B, 0xF72585, 0x7209B7, 0x4361EE, 0x4CC9F0, 0xFFD166),
        Palette("Lichen", paper: 0xECEFE6, 0x2F3E46, 0x52796F, 0x84A98C, 0xB5C4A8, 0xD9A441),
        Palette("Persimmon", paper: 0xFFF6EC, 0x33272A, 0x9B2C1F, 0xE4572E, 0xF3A712, 0x76B5A0),
        Palette("Glacier", paper: 0xEEF4F7, 0x0B3954, 0x087E8B, 0x5FA8D3, 0xBFD7EA, 0xFF5A5F),
        Palette("Plum", paper: 0x241623, 0xD0A2C0, 0x8D5A97, 0x5C4D7D, 0xF6AE2D, 0xF26419),
        Palette("Saffron", paper: 0xFFF9E8, 0x3D2C2E, 0x7B4B94, 0xF4B942, 0xF77F00, 0x2A9D8F),
        Palette("Deep Sea", paper: 0x0B1D2A, 0x1B4965, 0x3A86A8, 0x62B6CB, 0xBEE9E8, 0xFFB703),
        Palette("Rosewood", paper: 0xFAF0EE, 0x4A1C2A, 0x8C2F39, 0xC6616B, 0xE9A6A6, 0x6B8F71),
        Palette("Ink and Gold", paper: 0x121417, 0xE8DCC4, 0xC9A227, 0x8A6D3B, 0x4F5D75, 0xBFC0C0),
    ]
}
