/// A way to draw pictures.
protocol Style: Sendable {
    /// Its name: lower-case letters, part of the pictures' identifiers.
    var name: String { get }
    /// How it draws, in a few words.
    var algorithm: String { get }
    /// What its pictures show, for their titles.
    var subjects: [String] { get }
    /// Whether only members get its pictures.
    var isForMembers: Bool { get }

    /// Draws a picture.
    ///
    /// - Parameters:
    ///   - palette: The colours to use.
    ///   - generator: What decides everything else.
    /// - Returns: The picture, the same for the same palette and generator.
    func draw(_ palette: Palette, _ generator: inout SeededGenerator) -> Canvas
}

extension Style {
    var isForMembers: Bool { false }
}

/// All styles.
let styles: [any Style] = [
    Dunes(), Orbits(), Tiles(), Bloom(), Currents(), Facets(), Aurora(),
]
